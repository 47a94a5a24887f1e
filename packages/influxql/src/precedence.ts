// Precedence of operators, shared by parser and printer.
import type { BinaryOperator } from './ast.ts';

/** Higher binds tighter; equal ones apply from left to right. */
export const PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  OR: 1,
  AND: 2,
  '=': 3,
  '!=': 3,
  '=~': 3,
  '!~': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  '+': 4,
  '-': 4,
  '|': 4,
  '^': 4,
  '*': 5,
  '/': 5,
  '%': 5,
  '&': 5,
};
