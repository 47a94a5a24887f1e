// One function call of a SELECT list as data of the plan: its inputs, its reduction and its
// transformations.
import type { FieldType, InvalidRequest } from '@tidemark/core';
import { NANOS_PER_SECOND } from '@tidemark/core';
import type { Call, Expression, Reference } from '@tidemark/influxql';

import type { Interval } from './dimensions.ts';
import { invalid } from '../compat-messages.ts';
import { FUNCTIONS } from '../functions/registry.ts';
import type { TransformationSpec, WarmUp } from '../functions/transformation.ts';
import { isNumeric } from './expression-types.ts';
import type { ReducerSpec } from '../functions/reducers.ts';
import type { AggregateCall, CallFault } from './columns.ts';

export type CallContext = {
  readonly interval: Interval | undefined;
  /** Registers the field that is read; undefined for what is no field. */
  readonly input: (
    reference: Reference,
  ) => { readonly index: number; readonly type: FieldType } | undefined;
  readonly tagInput: (name: string) => number;
};

/** Builds it of a checked expression. */
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
  for (const step of outer.reverse()) {
    fault ??= typeFault(step, step.name, { type, isKnown: base.isKnown });
    const spec = transformationSpec(step, context.interval);
    transformations.push(spec);
    if (context.interval !== undefined) prefetchWindows += windowsBefore(spec);
    type = transformedType(spec, type);
  }
  return {
    expression: call,
    input: base.input,
    inputType: base.inputType,
    reducer: base.reducer,
    transformations,
    type,
    hasFixedType: FIXED_TYPE.has(call.name),
    fault,
    prefetchWindows,
  };
}

function isTransformation(name: string): boolean {
  const kind = FUNCTIONS.get(name)?.kind;
  return kind === 'transformation' || kind === 'predictor' || name === 'integral';
}

/** Functions whose result has the same type whatever the field. */
const FIXED_TYPE: ReadonlySet<string> = new Set([
  'count',
  'mean',
  'median',
  'stddev',
  'integral',
  'derivative',
  'non_negative_derivative',
  'moving_average',
  'elapsed',
  'exponential_moving_average',
  'double_exponential_moving_average',
  'triple_exponential_moving_average',
  'relative_strength_index',
  'triple_exponential_derivative',
  'kaufmans_efficiency_ratio',
  'kaufmans_adaptive_moving_average',
  'chande_momentum_oscillator',
  'holt_winters',
  'holt_winters_with_fit',
]);

type Base = {
  readonly input: number | undefined;
  readonly inputType: FieldType;
  readonly isKnown: boolean;
  readonly reducer: ReducerSpec | undefined;
  readonly type: FieldType;
  readonly fault: CallFault | undefined;
};

function reduction(inner: Expression, context: CallContext): Base {
  if (inner.kind === 'reference') {
    const field = context.input(inner);
    const type = field?.type ?? 'float';
    return {
      input: field?.index,
      inputType: type,
      isKnown: field !== undefined,
      reducer: undefined,
      type,
      fault: undefined,
    };
  }
  if (inner.kind !== 'call') {
    throw invalid('expected field argument', { code: 'IQL_ARGUMENT', span: inner.span });
  }
  const { name } = inner;
  let [argument] = inner.arguments;
  let kind = name;
  if (name === 'count' && (argument?.kind === 'call' || argument?.kind === 'distinct')) {
    kind = 'count-distinct';
    argument =
      argument.kind === 'call'
        ? argument.arguments[0]
        : { kind: 'reference', name: argument.name, span: argument.span };
  }
  const field = argument?.kind === 'reference' ? context.input(argument) : undefined;
  const inputType = field?.type ?? 'float';
  const read: ReadField = { type: inputType, isKnown: field !== undefined };
  return {
    input: field?.index,
    inputType,
    isKnown: read.isKnown,
    reducer: reducerSpec(kind, inner, context),
    type: reducedType(kind, inputType),
    fault:
      name === 'top' || name === 'bottom'
        ? rankingFault(inner, read)
        : typeFault(inner, name, read),
  };
}

function reducerSpec(kind: string, call: Call, context: CallContext): ReducerSpec {
  const last = call.arguments.at(-1);
  switch (kind) {
    case 'percentile':
      return {
        kind,
        percent: last?.kind === 'integer' || last?.kind === 'number' ? Number(last.value) : 0,
      };
    case 'sample':
      return { kind, size: integerOf(last) };
    case 'top':
    case 'bottom': {
      const tags = call.arguments.slice(1, -1);
      return {
        kind,
        size: integerOf(last),
        distinctInputs: tags.map((tag) =>
          tag.kind === 'reference' ? context.tagInput(tag.name) : -1,
        ),
      };
    }
    case 'count':
    case 'sum':
    case 'mean':
    case 'min':
    case 'max':
    case 'first':
    case 'last':
    case 'spread':
    case 'median':
    case 'mode':
    case 'stddev':
    case 'distinct':
    case 'count-distinct':
      return { kind };
    default:
      throw unknownFunction(kind, call);
  }
}

function unknownFunction(name: string, { span }: Call): InvalidRequest {
  return invalid(`undefined function ${name}()`, { code: 'IQL_UNKNOWN_FUNCTION', span });
}

function integerOf(node: Expression | undefined): number {
  return node?.kind === 'integer' ? Number(node.value) : 0;
}

function reducedType(kind: string, inputType: FieldType): FieldType {
  switch (kind) {
    case 'count':
    case 'count-distinct':
      return 'integer';
    case 'mean':
    case 'median':
    case 'stddev':
      return 'float';
    default:
      return inputType;
  }
}

type ReadField = { readonly type: FieldType; readonly isKnown: boolean };

/** What is wrong with a field type that a function does not take, in the recorded words. */
function typeFault(call: Call, name: string, { type, isKnown }: ReadField): CallFault | undefined {
  if (!isKnown) return undefined;
  const accepts = FUNCTIONS.get(name)?.accepts ?? 'any';
  const isAccepted =
    accepts === 'any' || isNumeric(type) || (accepts === 'ordered' && type === 'boolean');
  if (isAccepted) return undefined;
  const word = WORDS.get(name) ?? name.replaceAll('_', ' ');
  return unsupported(`${word} iterator type: *query.${type}InterruptIterator`, call, type);
}

/**
 * With tags to tell apart, the best point of each combination is selected first, and the texts show
 * it.
 */
function rankingFault(call: Call, field: ReadField): CallFault | undefined {
  if (call.arguments.length < 3) return typeFault(call, call.name, field);
  const selector = call.name === 'top' ? 'max' : 'min';
  const first = typeFault(call, selector, field);
  const { type, isKnown } = field;
  if (first !== undefined || !isKnown || isNumeric(type)) return first;
  const iterator = `*query.${type}Reduce${capitalised(type)}Iterator`;
  return unsupported(`${call.name} iterator type: ${iterator}`, call, type);
}

function unsupported(what: string, { name, span }: Call, type: FieldType): CallFault {
  const hint = `${name}() does not take a field of type ${type}`;
  return { text: `unsupported ${what}`, place: { code: 'IQL_FIELD_TYPE', span, hint } };
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['non_negative_derivative', 'derivative'],
  ['non_negative_difference', 'difference'],
]);

const SECOND = NANOS_PER_SECOND;

function transformationSpec(call: Call, interval: Interval | undefined): TransformationSpec {
  const [, second, third, fourth] = call.arguments;
  const { name } = call;
  const nanos = second?.kind === 'duration' ? second.nanos : undefined;
  switch (name) {
    case 'derivative':
    case 'non_negative_derivative':
      return { kind: name, unitNanos: nanos ?? interval?.everyNanos ?? SECOND };
    case 'elapsed':
      return { kind: name, unitNanos: nanos ?? 1n };
    case 'difference':
    case 'non_negative_difference':
    case 'cumulative_sum':
      return { kind: name };
    case 'moving_average':
      return { kind: name, points: integerOf(second) };
    case 'exponential_moving_average':
    case 'double_exponential_moving_average':
    case 'triple_exponential_moving_average':
    case 'relative_strength_index':
    case 'triple_exponential_derivative':
      return { kind: name, ...technical(second, third), warmUp: warmUpOf(fourth) ?? 'exponential' };
    case 'kaufmans_efficiency_ratio':
    case 'kaufmans_adaptive_moving_average':
      return { kind: name, ...technical(second, third) };
    case 'chande_momentum_oscillator':
      return { kind: name, ...technical(second, third), warmUp: warmUpOf(fourth) ?? 'none' };
    case 'holt_winters':
    case 'holt_winters_with_fit':
      return {
        kind: name,
        predictions: integerOf(second),
        seasonLength: integerOf(third),
        intervalNanos: interval?.everyNanos ?? 1n,
      };
    case 'integral':
      // The windows are the plan's and known when it runs.
      return {
        kind: name,
        unitNanos: nanos ?? SECOND,
        windowOf: (time) => ({ start: time, end: time }),
        hasWindows: false,
      };
    default:
      throw unknownFunction(name, call);
  }
}

function technical(
  period: Expression | undefined,
  hold: Expression | undefined,
): { readonly period: number; readonly hold: number } {
  return { period: integerOf(period), hold: hold?.kind === 'integer' ? integerOf(hold) : -1 };
}

function warmUpOf(node: Expression | undefined): WarmUp | undefined {
  if (node?.kind !== 'string') return undefined;
  return node.value === 'exponential' || node.value === 'simple' ? node.value : undefined;
}

/**
 * Windows before the range that a transformation looks at: one, however many it averages
 * (recorded).
 */
function windowsBefore(spec: TransformationSpec): number {
  switch (spec.kind) {
    case 'cumulative_sum':
    case 'holt_winters':
    case 'holt_winters_with_fit':
    case 'integral':
      return 0;
    default:
      return 1;
  }
}

function transformedType(spec: TransformationSpec, type: FieldType): FieldType {
  switch (spec.kind) {
    case 'difference':
    case 'non_negative_difference':
    case 'cumulative_sum':
      return type;
    case 'elapsed':
      return 'integer';
    default:
      return 'float';
  }
}
