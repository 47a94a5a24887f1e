// The evaluation of conditions that a source calculates (`CalculatedPredicate`).
import type { Column } from '@tidemark/core';

import { replaceColumns } from '../analyse/columns.ts';
import type { ValueExpression } from '../analyse/columns.ts';
import type { CalculatedPredicate } from '../series-source.ts';
import { evaluate, truth } from './evaluate.ts';

/** One byte per row: 1 where the condition holds. It has one column per field, and no tags. */
export function calculatedMask(
  { expression }: CalculatedPredicate,
  columns: readonly Column[],
  rowCount: number,
): Uint8Array {
  // Expressions are opaque to all but the query package, which made this one.
  const context = { columns, rowCount, isCondition: true };
  return truth(evaluate(expression as ValueExpression, context), rowCount).slice();
}

/** The condition for a series: its tags are constants; missing ones are empty texts. */
export function ofSeries(
  condition: CalculatedPredicate,
  tags: ReadonlyMap<string, string>,
): CalculatedPredicate {
  if (condition.tags.length === 0) return condition;
  const fieldCount = condition.fields.length;
  const expression = replaceColumns(condition.expression as ValueExpression, (column) => {
    if (column.index < fieldCount) return column;
    const value = tags.get(condition.tags[column.index - fieldCount]!) ?? '';
    return { kind: 'constant', value, type: 'string' };
  });
  return { ...condition, tags: [], expression };
}
