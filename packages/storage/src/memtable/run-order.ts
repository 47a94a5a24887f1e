// Sorts the rows of a series by moving whole runs of ascending times. Batches of several
// connections are not applied in the order of their times: then the rows of a series are one run
// per batch, in the wrong order. Moving row numbers takes much less time than merging the rows.
import { assert } from '@tidemark/core';

/** The rows of a series: [start, end) in a list of rows. */
type Part = { readonly start: number; readonly end: number };

/** More or shorter runs than this are not due to reordered batches. */
const RUNS_MAX = 1024;
const RUN_ROWS_MIN = 4;

/**
 * Sorts the runs of a part if its times ascend strictly afterwards, and returns whether it did.
 * Runs that overlap are left as they are. `times` are the times of the rows in their present order.
 */
export function orderRuns(rows: Uint32Array, times: BigInt64Array, part: Part): boolean {
  assert(rows.length === times.length, 'a time per row');
  const runs = runsOf(times, part);
  if (runs === undefined) return false;
  runs.sort((a, b) => (times[a.start]! < times[b.start]! ? -1 : 1));
  for (let i = 1; i < runs.length; i++) {
    if (times[runs[i]!.start]! <= times[runs[i - 1]!.end - 1]!) return false;
  }
  const before = rows.slice(part.start, part.end);
  let at = part.start;
  for (const { start, end } of runs) {
    rows.set(before.subarray(start - part.start, end - part.start), at);
    at += end - start;
  }
  return true;
}

/**
 * Runs of strictly ascending times; `undefined` when there are too many. Compares 32-bit halves
 * (docs/adr/0001-int64.md).
 */
function runsOf(times: BigInt64Array, { start, end }: Part): Part[] | undefined {
  const halves = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  const countMax = Math.min(RUNS_MAX, (end - start) / RUN_ROWS_MIN);
  const runs: Part[] = [];
  let first = start;
  for (let i = start + 1; i < end; i++) {
    const high = halves[2 * i + 1]!;
    const highBefore = halves[2 * i - 1]!;
    if (high > highBefore) continue;
    if (high === highBefore && halves[2 * i]! >>> 0 > halves[2 * i - 2]! >>> 0) continue;
    runs.push({ start: first, end: i });
    if (runs.length > countMax) return undefined;
    first = i;
  }
  runs.push({ start: first, end });
  return runs;
}
