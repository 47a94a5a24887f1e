// Small look-ups in expressions, shared by several steps of the analysis.
import type { BinaryOperator, Expression } from '@tidemark/influxql';

export const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '&', '|', '^']);

/** The expression without surrounding parentheses. */
export function unwrap(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === 'paren') inner = inner.expression;
  return inner;
}

const MIRRORED: ReadonlyMap<BinaryOperator, BinaryOperator> = new Map([
  ['<', '>'],
  ['<=', '>='],
  ['>', '<'],
  ['>=', '<='],
]);

/** The operator for operands that have changed places. */
export function mirrored(operator: BinaryOperator): BinaryOperator {
  return MIRRORED.get(operator) ?? operator;
}
