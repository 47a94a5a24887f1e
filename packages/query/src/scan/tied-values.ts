// Rows of the same time and value where only the best rows were read.
import { columnValue } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';

import { BestValues } from '../functions/best-values.ts';
import { combinationOf } from '../functions/ranking.ts';
import type { SortedRows } from '../merge/merge-sorted-rows.ts';
import type { RankedRows } from '../plan/ranked-rows.ts';

/**
 * Whether two rows that may be among the best have the same time and value, and may differ
 * otherwise: which one comes first then depends on how all series were merged, so that all rows are
 * needed.
 */
export function haveTies(shards: readonly SortedRows[], ranked: RankedRows): boolean {
  if (!ranked.hasOtherColumns) return false;
  const best = bestOf(shards, ranked);
  for (const { times, columns } of shards) {
    const ofTime = new Set<FieldValue>();
    for (let row = 0; row < times.length; row++) {
      if (row > 0 && times[row] !== times[row - 1]) ofTime.clear();
      const value = columnValue(columns[ranked.input]!, row);
      if (value === null || best.isHopeless(value)) continue;
      if (ofTime.has(value)) return true;
      ofTime.add(value);
    }
  }
  return false;
}

function bestOf(
  shards: readonly SortedRows[],
  { kind, size, input, distinctInputs }: RankedRows,
): BestValues {
  const best = new BestValues(kind, size);
  let number = 0;
  for (const { times, columns } of shards) {
    for (let row = 0; row < times.length; row++) {
      const value = columnValue(columns[input]!, row);
      if (value === null) continue;
      const isByTags = distinctInputs.length > 0;
      best.add(isByTags ? combinationOf({ columns, row }, distinctInputs) : number++, value);
    }
  }
  best.settle();
  return best;
}
