// Order of runs of rows by their times. Batches that several connections send are not applied
// in the order of their times: the rows of a series consist of ascending runs then, one per
// batch, of which some have changed places. Putting numbers of rows in order is much less than
// merging what they stand for.
import { assert } from '@tidemark/core';

/** A series in a list of rows: [start, end). */
type Part = { readonly start: number; readonly end: number };

/** With more runs than this, or shorter ones, the rows are no batches that changed places. */
const RUNS_MAX = 1024;
const RUN_ROWS_MIN = 4;

/**
 * Puts the runs of `part` in order where that makes its times strictly ascending; says whether
 * it did. `times` are those of the rows, before. Runs that overlap are left as they are.
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
 * Strictly ascending runs; `undefined` when there are too many. Compares 32-bit halves
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
