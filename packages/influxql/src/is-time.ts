// The name `time`.
import type { Expression } from './ast.ts';

/** Whether the reference means the time of the row, in any case of letters. */
export function isTime(expression: Expression): boolean {
  return expression.kind === 'reference' && expression.name.toLowerCase() === 'time';
}
