// Rows of series, shard by shard, because the choice among rows of equal time starts again in each
// shard.
import { sliceRows } from '../batch/row-batch.ts';
import type { ShardSpan } from '../series-source.ts';
import type { SeriesRows } from './merge-series.ts';

/**
 * The rows of each shard that has some, in the order of the query. Parts are in the order of time
 * within a series.
 */
export function byShard(
  parts: readonly SeriesRows[],
  shards: readonly ShardSpan[],
  descending: boolean,
): readonly (readonly SeriesRows[])[] {
  if (parts.length < 2 || shards.length < 2) return [parts];
  const found: SeriesRows[][] = [];
  /** For each part, the first row that has not been in a shard yet. */
  const next = new Uint32Array(parts.length);
  const ordered = descending ? shards.toReversed() : shards;
  for (const [k, { start, end }] of ordered.entries()) {
    const isLast = k === ordered.length - 1;
    const rows: SeriesRows[] = [];
    for (const [i, part] of parts.entries()) {
      const { times } = part;
      const from = next[i]!;
      const to = isLast
        ? times.length
        : firstOutside(times, from, (time) => (descending ? time >= start : time < end));
      next[i] = to;
      if (from < to) rows.push(sliceRows(part, from, to));
    }
    if (rows.length > 0) found.push(rows);
  }
  return found;
}

/** The first row from `from` on that is not inside; rows inside come first. */
function firstOutside(
  times: BigInt64Array,
  from: number,
  isInside: (time: bigint) => boolean,
): number {
  let [low, high] = [from, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isInside(times[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
