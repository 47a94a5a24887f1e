// Small look-ups in expressions, shared by several steps of the analysis.
import type { Expression } from '@tidemark/influxql';

export const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '&', '|', '^']);

/** The expression without surrounding parentheses. */
export function unwrap(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === 'paren') inner = inner.expression;
  return inner;
}

export function isLiteral(expression: Expression): boolean {
  switch (expression.kind) {
    case 'number':
    case 'integer':
    case 'unsigned':
    case 'string':
    case 'boolean':
    case 'duration':
    case 'regex':
      return true;
    default:
      return false;
  }
}
