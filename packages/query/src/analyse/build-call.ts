// One function call of a SELECT list as data of the plan: its inputs, its reduction and its
// transformations.
import type { FieldType, InvalidRequest } from '@tidemark/core';
import type { Call, Expression, Reference } from '@tidemark/influxql';

import type { Interval } from './dimensions.ts';
import { invalid } from '../compat-messages.ts';
import {
  isTransformation,
  transformationRow,
  transformationSpec,
} from '../functions/transformation-table.ts';
import { reducerRow, reducerSpec } from '../functions/reducers.ts';
import { FUNCTIONS, isRanking } from '../functions/registry.ts';
import type { TransformationSpec } from '../functions/transformation.ts';
import { isNumeric } from './expression-types.ts';
import type { AggregateCall, CallFault } from './columns.ts';

export type CallContext = {
  readonly interval: Interval | undefined;
  /** Registers a field that is read; returns `undefined` for other names. */
  readonly input: (
    reference: Reference,
  ) => { readonly index: number; readonly type: FieldType } | undefined;
  readonly tagInput: (name: string) => number;
};

/** Builds the call from a checked expression. */
export function buildCall(call: Call, context: CallContext): AggregateCall {
  const transformations: TransformationSpec[] = [];
  let prefetchWindows = 0;
  let inner: Expression = call;
  // From the outside to the inside; the specs are turned around below.
  const outer: Call[] = [];
  while (inner.kind === 'call' && isTransformation(inner.name)) {
    outer.push(inner);
    const next: Expression | undefined = inner.arguments[0];
    if (next === undefined) break;
    inner = next;
  }
  const base = reduction(inner, context);
  let { type, fault } = base;
  let hasFixedType = base.reducer !== undefined && reducerRow(base.reducer).type !== undefined;
  for (const step of outer.reverse()) {
    if (base.input !== undefined) fault ??= typeFault(step, step.name, type);
    const spec = transformationSpec(step, context.interval?.everyNanos);
    if (spec === undefined) throw unknownFunction(step);
    transformations.push(spec);
    const row = transformationRow(spec);
    if (context.interval !== undefined) prefetchWindows += row.windowsBefore;
    if (row.type !== 'input') ({ type } = row);
    hasFixedType = row.type !== 'input';
  }
  return {
    expression: call,
    input: base.input,
    inputType: base.inputType,
    reducer: base.reducer,
    transformations,
    type,
    hasFixedType,
    fault,
    prefetchWindows,
  };
}

type Base = Pick<AggregateCall, 'input' | 'inputType' | 'reducer' | 'type' | 'fault'>;

function reduction(inner: Expression, context: CallContext): Base {
  if (inner.kind === 'reference') {
    const field = context.input(inner);
    const type = field?.type ?? 'float';
    return { input: field?.index, inputType: type, reducer: undefined, type, fault: undefined };
  }
  if (inner.kind !== 'call') {
    throw invalid('expected field argument', { code: 'IQL_ARGUMENT', span: inner.span });
  }
  const { name } = inner;
  let [argument] = inner.arguments;
  let kind = name;
  if (name === 'count' && argument?.kind === 'call') {
    kind = 'count-distinct';
    [argument] = argument.arguments;
  }
  const field = argument?.kind === 'reference' ? context.input(argument) : undefined;
  const inputType = field?.type ?? 'float';
  const reducer = reducerSpec(kind, inner, context.tagInput);
  if (reducer === undefined) throw unknownFunction(inner);
  return {
    input: field?.index,
    inputType,
    reducer,
    type: reducerRow(reducer).type ?? inputType,
    fault: field && (isRanking(name) ? rankingFault : typeFault)(inner, name, inputType),
  };
}

function unknownFunction({ name, span }: Call): InvalidRequest {
  return invalid(`undefined function ${name}()`, { code: 'IQL_UNKNOWN_FUNCTION', span });
}

/** The fault of a field type that a function does not take, in the recorded words. */
function typeFault(call: Call, name: string, type: FieldType): CallFault | undefined {
  const accepts = FUNCTIONS.get(name)?.accepts ?? 'any';
  const isAccepted =
    accepts === 'any' || isNumeric(type) || (accepts === 'ordered' && type === 'boolean');
  if (isAccepted) return undefined;
  const word = name.replace(/^non_negative_/, '').replaceAll('_', ' ');
  return unsupported(`${word} iterator type: *query.${type}InterruptIterator`, call, type);
}

/**
 * With tags in the call, the best point of each combination is selected first, and the texts show
 * it.
 */
function rankingFault(call: Call, name: string, type: FieldType): CallFault | undefined {
  if (call.arguments.length < 3) return typeFault(call, name, type);
  const first = typeFault(call, name === 'top' ? 'max' : 'min', type);
  if (first !== undefined || isNumeric(type)) return first;
  const iterator = `*query.${type}Reduce${capitalised(type)}Iterator`;
  return unsupported(`${name} iterator type: ${iterator}`, call, type);
}

function unsupported(what: string, { name, span }: Call, type: FieldType): CallFault {
  const hint = `${name}() does not take a field of type ${type}`;
  return { text: `unsupported ${what}`, place: { code: 'IQL_FIELD_TYPE', span, hint } };
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
