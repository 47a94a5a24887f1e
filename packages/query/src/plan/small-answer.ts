// Small answers: those that take little time and have few cells, so that the thread of the source
// may produce them as a whole (docs/adr/0022-prepared-statements.md).
import { isSubquery } from '@tidemark/influxql';

import { SMALL_ANSWER_CELLS } from '../limits.ts';
import { mayHaveManyPoints } from './calls-plan.ts';
import type { PhysicalPlan, RowsPlan } from './physical-plan.ts';
import type { SelectPlan } from './select-plan.ts';

/**
 * The number of rows that a small answer has at most: a bounded number of windows of one group that
 * the source reduces, or the first rows of one. `undefined` if the answer may be large.
 */
export function smallAnswerRows({ select, rows }: PhysicalPlan): bigint | undefined {
  const { dimensions, sources, zone } = select;
  if (sources.length !== 1 || sources.some(isSubquery)) return undefined;
  if (zone !== undefined || dimensions.length > 0) return undefined;
  // Groups with ties are merged from all their rows.
  if (rows.kind === 'reduced' && isFolded(rows)) return windowsOf(select);
  return rows.kind === 'raw' ? firstRowsOf(select) : undefined;
}

function isFolded({ rows, folded }: RowsPlan & { readonly kind: 'reduced' }): boolean {
  return rows === undefined && folded.every(({ ifTied }) => ifTied === undefined);
}

function windowsOf(select: SelectPlan): bigint | undefined {
  const { calls, interval, range } = select;
  // Transformations may calculate for long, or add windows.
  if (calls.some((call) => call.transformations.length > 0)) return undefined;
  if (calls.some(mayHaveManyPoints)) return undefined;
  if (interval === undefined) return 1n;
  const windows = (range.end - range.start) / interval.everyNanos + 2n;
  return areFewCells(select, windows) ? windows : undefined;
}

/** Texts may be long, and conditions that the source cannot apply have no bound on their time. */
function firstRowsOf(select: SelectPlan): bigint | undefined {
  const { condition, inputs, limit, offset } = select;
  if (limit === 0 || condition.residual !== undefined) return undefined;
  if (inputs.some((input) => input.kind === 'field' && input.type === 'string')) return undefined;
  return areFewCells(select, BigInt(limit + offset)) ? BigInt(limit) : undefined;
}

function areFewCells({ outputs }: SelectPlan, rows: bigint): boolean {
  return rows * BigInt(outputs.length + 1) <= SMALL_ANSWER_CELLS;
}
