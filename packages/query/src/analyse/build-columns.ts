// The columns of a SELECT: the inputs to read, the calls over them, and the result columns.

import type { FieldType } from '@tidemark/core';
import { children, isSubquery, some } from '@tidemark/influxql';
import type { Call, CastType, Expression, Reference, SelectStatement } from '@tidemark/influxql';

import type { Interval } from './dimensions.ts';
import type { ExpandedField, PreparedSource, ResolvedName } from './prepared.ts';
import { readType, resolveName } from './prepared.ts';
import { print } from '../print.ts';
import { invalid } from '../compat-messages.ts';
import { isMathFunction } from '../functions/registry.ts';
import { binaryType, isNumeric, mathType } from './expression-types.ts';
import type { CallContext } from './build-call.ts';
import { buildCall } from './build-call.ts';
import { unwrap } from './expressions.ts';
import { literalValue } from './literals.ts';
import { InputSet } from './input-set.ts';
import type {
  BuiltColumns,
  AggregateCall,
  OutputColumn,
  RowInput,
  ValueExpression,
} from './columns.ts';

export type ColumnRequest = {
  readonly statement: SelectStatement;
  readonly fields: readonly ExpandedField[];
  readonly sources: readonly PreparedSource[];
  readonly interval: Interval | undefined;
};

/** Builds the columns; throws the recorded type errors. */
export function buildColumns(request: ColumnRequest): BuiltColumns {
  const builder = new ColumnsBuilder(request);
  return builder.build();
}

class ColumnsBuilder {
  readonly #request: ColumnRequest;
  readonly #inputs = new InputSet();
  readonly #calls: AggregateCall[] = [];
  /** Numbers of calls by their texts. */
  readonly #callIndexes = new Map<string, number>();
  readonly #auxiliary: number[] = [];
  readonly #isRaw: boolean;
  /** Whether only tags read as fields and unknown names are selected. */
  readonly #selectsNothing: boolean;

  constructor(request: ColumnRequest) {
    this.#request = request;
    this.#selectsNothing = request.fields.every(({ expression }) =>
      readsNothing(expression, request.sources),
    );
    this.#isRaw = !request.fields.some((field) => some(field.expression, isPointCall));
  }

  build(): BuiltColumns {
    const { fields } = this.#request;
    // Calls come first in the row, so they have to be known before auxiliary columns get their
    // numbers.
    if (!this.#isRaw) for (const field of fields) this.#collectCalls(field.expression);
    const outputs = fields.map((field): OutputColumn => {
      const expression = this.#value(field.expression);
      return {
        name: field.name,
        expression,
        type: expression.type ?? 'float',
        isTag: this.#isTag(field.expression),
        isIntoTag: field.isIntoTag,
      };
    });
    return {
      inputs: this.#inputs.all,
      calls: this.#calls,
      auxiliaryInputs: this.#auxiliary,
      outputs,
    };
  }

  #isTag(expression: Expression): boolean {
    if (expression.kind !== 'reference') return false;
    const resolved = this.#resolve(expression);
    return resolved.kind === 'tag' || (resolved.kind === 'field' && resolved.isTagColumn === true);
  }

  #resolve(reference: Reference): ResolvedName {
    const resolved = resolveReference(reference, this.#request.sources);
    // If nothing else is selected, a tag that is read as a field is null.
    const isAlone = resolved.kind === 'tag' && reference.cast === 'field' && this.#selectsNothing;
    return isAlone ? { kind: 'unknown' } : resolved;
  }

  #collectCalls(expression: Expression): void {
    if (isPointCall(expression)) this.#callIndex(expression);
    else for (const child of children(expression)) this.#collectCalls(child);
  }

  /** The number of a call; those that print alike, numbers with three decimals, are one. */
  #callIndex(call: Call): number {
    const text = print(call);
    const existing = this.#callIndexes.get(text);
    if (existing !== undefined) return existing;
    const context: CallContext = {
      interval: this.#request.interval,
      input: (reference) => this.#inputOf(reference),
      tagInput: (name) => this.#inputs.add(this.#distinguishingTag(name)),
    };
    const index = this.#calls.push(buildCall(call, context)) - 1;
    this.#callIndexes.set(text, index);
    return index;
  }

  /**
   * A tag by which `top` distinguishes points. A subquery that does not select it is grouped by it
   * for this purpose. This is not the value of a column of the same name.
   */
  #distinguishingTag(name: string): RowInput {
    const { sources } = this.#request;
    const isOfSubquery = sources.some(isSubquery) && resolveName(name, sources).kind !== 'field';
    return isOfSubquery ? { kind: 'tag', name, groupTag: 'asked-for' } : { kind: 'tag', name };
  }

  /** The field that a call reads; `undefined` for tags and unknown names, which have no values. */
  #inputOf(reference: Reference) {
    const resolved = this.#resolve(reference);
    const { name } = reference;
    if (isTagOfSubquery(reference, this.#request.sources)) {
      return { index: this.#inputs.add({ kind: 'tag', name }), type: 'string' } as const;
    }
    if (resolved.kind !== 'field') return undefined;
    const input = { kind: 'field', name, type: resolved.type } as const;
    return { index: this.#inputs.add(input), type: resolved.type };
  }

  #value(expression: Expression): ValueExpression {
    switch (expression.kind) {
      case 'reference':
        return this.#column(expression);
      case 'paren':
        return this.#value(expression.expression);
      case 'call':
        return this.#call(expression);
      case 'binary': {
        const left = this.#operand(expression.left);
        const right = this.#operand(expression.right);
        const typeOf = (node: Expression): string | undefined => this.#printedType(node);
        const type = binaryType({ node: expression, left, right, typeOf });
        return { kind: 'binary', operator: expression.operator, left, right, type };
      }
      default: {
        const value = literalValue(expression);
        if (value !== undefined) return value;
        throw invalid(`invalid expression in SELECT clause: ${print(expression)}`, {
          code: 'IQL_EXPRESSION',
          span: expression.span,
        });
      }
    }
  }

  /** One side of an operator. A call that reads a tag has no values here, but has its type. */
  #operand(expression: Expression): ValueExpression {
    const value = this.#value(expression);
    const call = unwrap(expression);
    const isUntyped = value.kind === 'column' && value.type === undefined;
    const [read] = call.kind === 'call' ? call.arguments : [];
    return isUntyped && read !== undefined && this.#isTag(read)
      ? { ...value, type: 'string' }
      : value;
  }

  #printedType(node: Expression): string | undefined {
    if (node.kind !== 'reference') return undefined;
    const resolved = this.#resolve(node);
    if (resolved.kind === 'field') return resolved.isTagColumn === true ? 'tag' : resolved.type;
    return resolved.kind === 'tag' ? 'tag' : undefined;
  }

  #call(call: Call): ValueExpression {
    if (isMathFunction(call.name)) {
      const given = call.arguments.map((argument) => this.#value(argument));
      this.#checkSecond(call, given[1]);
      return { kind: 'math', name: call.name, arguments: given, type: mathType(call.name, given) };
    }
    const index = this.#callIndex(call);
    const built = this.#calls[index];
    // An expression over an unknown field has no type, and fits with any other.
    const isTyped = built !== undefined && (built.input !== undefined || built.hasFixedType);
    return { kind: 'column', index, type: isTyped ? built.type : undefined };
  }

  /** As recorded, the second argument is checked even if the first is an unknown name. */
  #checkSecond(
    { name, arguments: [first, second] }: Call,
    value: ValueExpression | undefined,
  ): void {
    const isChecked = name === 'pow' || name === 'atan2';
    if (!isChecked || first?.kind !== 'reference' || second === undefined) return;
    if (this.#resolve(first).kind !== 'unknown') return;
    const type = this.#printedType(second) ?? value?.type;
    if (type === undefined || type === 'float' || type === 'integer' || type === 'unsigned') return;
    throw invalid(`invalid argument type for the second argument in ${name}(): ${type}`, {
      code: 'IQL_TYPE',
      span: second.span,
    });
  }

  /** The value of an unknown name: null, or the number with which fill() replaces nulls. */
  #nothing(): ValueExpression {
    const { fill } = this.#request.statement;
    if (fill?.kind !== 'number') return { kind: 'null', type: undefined };
    const { value } = fill;
    return { kind: 'constant', value, type: typeof value === 'bigint' ? 'integer' : 'float' };
  }

  #column(reference: Reference): ValueExpression {
    const resolved = this.#resolve(reference);
    if (resolved.kind === 'unknown') return this.#nothing();
    const { name } = reference;
    if (resolved.kind === 'tag') return this.#columnOf({ kind: 'tag', name }, 'string', undefined);
    const type = readType(resolved);
    const declared = type === resolved.type ? undefined : resolved.type;
    return this.#columnOf({ kind: 'field', name, type }, type, declared);
  }

  #columnOf(read: RowInput, type: FieldType, declared: FieldType | undefined): ValueExpression {
    const input = this.#inputs.add(read);
    if (this.#isRaw) return { kind: 'column', index: input, type, declared };
    let place = this.#auxiliary.indexOf(input);
    if (place < 0) place = this.#auxiliary.push(input) - 1;
    return { kind: 'column', index: this.#calls.length + place, type, declared };
  }
}

/** Whether a node is a call that reads points, which mathematics does not. */
function isPointCall(node: Expression): node is Call {
  return node.kind === 'call' && !isMathFunction(node.name);
}

/** Whether an expression has no names with values: only unknown names, and tags read as fields. */
function readsNothing(expression: Expression, sources: readonly PreparedSource[]): boolean {
  return !some(expression, (node) => {
    if (node.kind !== 'reference') return false;
    const { kind } = resolveReference(node, sources);
    return node.cast === 'field' ? kind === 'field' : kind !== 'unknown';
  });
}

/** Whether a reference casts a tag of subqueries to a tag: calls read it then (recorded). */
function isTagOfSubquery(reference: Reference, sources: readonly PreparedSource[]): boolean {
  return (
    reference.cast === 'tag' &&
    sources.every(isSubquery) &&
    resolveReference(reference, sources).kind === 'tag' &&
    resolveName(reference.name, sources).kind !== 'unknown'
  );
}

/** Resolves a reference, including its cast. */
export function resolveReference(
  reference: Reference,
  sources: readonly PreparedSource[],
): ResolvedName {
  const { name, cast } = reference;
  if (cast === undefined) return resolveName(name, sources);
  if (sources.every(isSubquery)) {
    return resolveColumn(cast, resolveName(name, sources));
  }
  if (cast === 'tag') return { kind: 'tag' };
  const resolved = resolveName(name, sources);
  if (cast === 'field') return resolved.kind === 'field' ? resolved : { kind: 'unknown' };
  return { kind: 'field', type: cast };
}

/**
 * Casts of a subquery's columns convert numbers. Everything else keeps its value as it was computed
 * and is only declared with the type: functions and operators that do not take it refuse the column
 * (recorded).
 */
function resolveColumn(cast: CastType, resolved: ResolvedName): ResolvedName {
  if (cast === 'field') {
    return resolved.kind === 'field' && resolved.isTagColumn === true ? { kind: 'tag' } : resolved;
  }
  if (cast === 'tag') {
    return resolved.kind === 'field' && resolved.isTagColumn !== true
      ? { ...resolved, type: resolved.valueType ?? resolved.type }
      : { kind: 'tag' };
  }
  const isKept = resolved.kind === 'field' && !(isNumeric(cast) && isNumeric(resolved.type));
  return isKept ? { ...resolved, type: cast } : { kind: 'field', type: cast };
}
