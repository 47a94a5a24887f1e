// Values while a script is evaluated: those of properties, plus nodes and values that only scripts
// use.
import { formatDuration, MIN_INT64, NANOS_PER_MICROSECOND } from '@tidemark/core';
import { formatExpression, formatFloat } from '@tidemark/tickscript';
import type { ExpressionNode, VarType } from '@tidemark/tickscript';
import type { SpecValue } from '../pipeline.ts';
import type { DraftHandler, DraftNode } from './draft.ts';
import type { TextValue } from './text-source.ts';

export type Value =
  | Exclude<SpecValue, { kind: 'list' | 'string' }>
  | TextValue
  | { readonly kind: 'list'; readonly items: readonly Value[] }
  | { readonly kind: 'node'; readonly node: DraftNode }
  | { readonly kind: 'handler'; readonly node: DraftNode; readonly handler: DraftHandler }
  | { readonly kind: 'time-dimension'; readonly lengthNanos: bigint; readonly offsetNanos: bigint }
  /** `"name"` where a value is expected. */
  | { readonly kind: 'reference'; readonly name: string }
  /** A call outside a lambda that no scope knows; only its use is an error. */
  | { readonly kind: 'unbound-function'; readonly name: string }
  /** A typed var of a template without default. */
  | { readonly kind: 'null'; readonly type: VarType };

/** Names of types as recorded error texts print them. */
export function typeName(value: Value): string {
  switch (value.kind) {
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int64';
    case 'float':
      return 'float64';
    case 'string':
      return 'string';
    case 'duration':
      return 'time.Duration';
    case 'regex':
      return '*regexp.Regexp';
    case 'star':
      return '*ast.StarNode';
    case 'list':
      return '[]interface {}';
    case 'lambda':
      return '*ast.LambdaNode';
    case 'node':
      return `*pipeline.${value.node.row.className}`;
    case 'handler':
      return `*pipeline.${value.handler.row.className}`;
    case 'time-dimension':
      return 'tick.timeDimension';
    case 'reference':
      return '*ast.ReferenceNode';
    case 'unbound-function':
      return 'tick.unboundFunc';
    case 'null':
      return '<nil>';
  }
}

/** The var type of a value; `undefined` for nodes and everything else that is no literal. */
export function varTypeOf(value: Value): VarType | undefined {
  switch (value.kind) {
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int';
    case 'float':
    case 'string':
    case 'duration':
    case 'regex':
    case 'star':
    case 'list':
    case 'lambda':
      return value.kind;
    default:
      return undefined;
  }
}

/** A value as error texts print it. */
export function displayValue(value: Value): string {
  switch (value.kind) {
    case 'boolean':
      return String(value.value);
    case 'integer':
      return String(value.value);
    case 'float':
      return formatFloat(value.value).replace(/\.0$/, '');
    case 'string':
      return value.value;
    case 'duration':
      return formatDuration(value.nanos);
    case 'lambda':
      return formatExpression(value.expression);
    case 'regex':
      return value.pattern;
    case 'list':
      return `[${value.items.map(displayValue).join(' ')}]`;
    case 'star':
      return '*';
    default:
      return typeName(value);
  }
}

const NOWHERE = { start: 0, end: 0 };

/** Literals have no sign: negative numbers are printed as a text would write them. */
function negative(operand: ExpressionNode): ExpressionNode {
  return { kind: 'unary', operator: '-', operand, span: NOWHERE };
}

function integerLiteral(value: bigint): ExpressionNode {
  const literal = (each: bigint): ExpressionNode => ({
    kind: 'integer',
    value: each,
    isOctal: false,
    span: NOWHERE,
  });
  if (value === MIN_INT64) return operation('-', integerLiteral(value + 1n), literal(1n));
  return value < 0n ? negative(literal(-value)) : literal(value);
}

export function floatLiteral(value: number): ExpressionNode {
  const literal = (each: number): ExpressionNode => ({ kind: 'float', value: each, span: NOWHERE });
  if (!Number.isFinite(value)) {
    return operation('/', floatLiteral(Number.isNaN(value) ? 0 : Math.sign(value)), literal(0));
  }
  return value < 0 || Object.is(value, -0) ? negative(literal(-value)) : literal(value);
}

/** Texts have microseconds at most: the rest is a fraction of one. */
function durationLiteral(nanos: bigint): ExpressionNode {
  if (nanos < 0n) return negative(durationLiteral(-nanos));
  const rest = nanos % NANOS_PER_MICROSECOND;
  if (rest === 0n) return { kind: 'duration', nanos, text: formatDuration(nanos), span: NOWHERE };
  const product = operation('*', durationLiteral(NANOS_PER_MICROSECOND), integerLiteral(rest));
  const fraction = operation('/', product, integerLiteral(NANOS_PER_MICROSECOND));
  return nanos === rest ? fraction : operation('+', durationLiteral(nanos - rest), fraction);
}

function operation(
  operator: '+' | '-' | '*' | '/',
  left: ExpressionNode,
  right: ExpressionNode,
): ExpressionNode {
  const layout = { isParenthesized: true, isMultiLine: false, span: NOWHERE };
  return { kind: 'binary', operator, left, right, ...layout };
}

/** The literal that stands for a value inside a lambda; `undefined` when there is none. */
export function literalOf(value: Value): ExpressionNode | undefined {
  switch (value.kind) {
    case 'boolean':
      return { kind: 'boolean', value: value.value, span: NOWHERE };
    case 'integer':
      return integerLiteral(value.value);
    case 'float':
      return floatLiteral(value.value);
    case 'string':
      return { kind: 'string', value: value.value, isTripleQuoted: false, span: NOWHERE };
    case 'duration':
      return durationLiteral(value.nanos);
    case 'regex': {
      const { pattern, literal } = value;
      return { kind: 'regex', pattern, literal, span: NOWHERE };
    }
    case 'lambda':
      return { kind: 'lambda', expression: value.expression, span: NOWHERE };
    case 'star':
      return { kind: 'star', span: NOWHERE };
    case 'list': {
      const items = value.items.map(literalOf);
      const known = items.filter((each) => each !== undefined);
      return known.length === items.length
        ? { kind: 'list', items: known, span: NOWHERE }
        : undefined;
    }
    case 'null':
      // A template is only checked: missing values are taken as true, or as a regular expression
      // that matches everything.
      return value.type === 'regex'
        ? { kind: 'regex', pattern: '', literal: '', span: NOWHERE }
        : { kind: 'boolean', value: true, span: NOWHERE };
    default:
      return undefined;
  }
}

/**
 * The value as plain data, a time dimension as two durations; `undefined` for nodes and everything
 * else that a pipeline does not keep.
 */
export function specValueOf(value: Value): SpecValue | undefined {
  switch (value.kind) {
    case 'string':
      return { kind: 'string', value: value.value };
    case 'boolean':
    case 'integer':
    case 'float':
    case 'duration':
    case 'regex':
    case 'star':
    case 'lambda':
      return value;
    case 'list': {
      const items = value.items.map(specValueOf).filter((each) => each !== undefined);
      return { kind: 'list', items };
    }
    case 'time-dimension':
      return {
        kind: 'list',
        items: [
          { kind: 'duration', nanos: value.lengthNanos },
          { kind: 'duration', nanos: value.offsetNanos },
        ],
      };
    default:
      return undefined;
  }
}
