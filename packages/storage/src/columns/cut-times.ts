// Cuts the times of rows from several sources into ranges of a limited number of rows.
import type { TimeRange } from '@tidemark/core';

/** A range of times, and the number of rows in it. */
export type RowsWithin = TimeRange & { readonly rows: number };

/**
 * Ascending ranges that together cover all times within `range`. Rows of one time stay together; a
 * range has more than `rowsMax` rows only if they share a time. The lists may be in any order.
 */
export function cutTimes(
  lists: readonly BigInt64Array[],
  range: TimeRange,
  rowsMax: number,
): readonly RowsWithin[] {
  const all = new BigInt64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let count = 0;
  for (const list of lists) {
    all.set(list, count);
    count += list.length;
  }
  const sorted = all.filter((time) => time >= range.start && time <= range.end).sort();
  const ranges: RowsWithin[] = [];
  for (let from = 0; from < sorted.length;) {
    let to = Math.min(sorted.length, from + rowsMax);
    // The last time of a range has all its rows: fewer times, or more where there is only one.
    while (to < sorted.length && to > from && sorted[to] === sorted[to - 1]) to--;
    if (to === from) {
      to = from + 1;
      while (to < sorted.length && sorted[to] === sorted[from]) to++;
    }
    ranges.push({ start: sorted[from]!, end: sorted[to - 1]!, rows: to - from });
    from = to;
  }
  return ranges;
}
