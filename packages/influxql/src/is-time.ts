// The name `time`.
import type { Expression } from './ast.ts';

/** Whether the reference means the time of the row, whatever the case of its letters. */
export function isTime(expression: Expression): boolean {
  return expression.kind === 'reference' && expression.name.toLowerCase() === 'time';
}
