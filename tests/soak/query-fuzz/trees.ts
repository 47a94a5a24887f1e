// Small factories for syntax trees. Spans do not matter here: trees are printed, not read.
import type { Binary, BinaryOperator, Call, Expression, Reference } from '@tidemark/influxql';

export const SPAN = { start: 0, end: 0 } as const;

export function reference(name: string): Reference {
  return { kind: 'reference', name, span: SPAN };
}

export function call(name: string, args: readonly Expression[]): Call {
  return { kind: 'call', name, arguments: args, span: SPAN };
}

export function binary(left: Expression, operator: BinaryOperator, right: Expression): Binary {
  return { kind: 'binary', operator, left, right, span: SPAN };
}

export function and(left: Expression, right: Expression): Expression {
  return binary(left, 'AND', right);
}

export function paren(expression: Expression): Expression {
  return { kind: 'paren', expression, span: SPAN };
}

export function integer(value: number): Expression {
  return { kind: 'integer', value: BigInt(value), span: SPAN };
}

export function duration(seconds: number): Expression {
  return { kind: 'duration', nanos: BigInt(seconds) * 1_000_000_000n, span: SPAN };
}

export function text(value: string): Expression {
  return { kind: 'string', value, span: SPAN };
}

export function regex(pattern: string): Expression {
  return { kind: 'regex', pattern, span: SPAN };
}
