// Merges runs of rows that are sorted by time into one sorted sequence, stable: among equal times the run that
// came first wins. Works on 32-bit halves of the times (docs/adr/0001-int64.md).
import type { Column, FieldType } from '@tidemark/core';

import { concatColumns, takeInt64, takeRows } from '../batch/column-ops.ts';

/** Rows with times in the order of the query. */
export type Run = { readonly times: BigInt64Array; readonly columns: readonly Column[] };

/** All rows of all runs by time; `types` are the types of the columns. */
export function mergeRuns(
  runs: readonly Run[],
  types: readonly FieldType[],
  descending: boolean,
): Run {
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) return only;
  let length = 0;
  for (const run of runs) length += run.times.length;
  const times = new BigInt64Array(length);
  const bounds: number[] = [0];
  let at = 0;
  for (const run of runs) {
    times.set(run.times, at);
    at += run.times.length;
    bounds.push(at);
  }
  const columns = types.map((type, i) =>
    concatColumns(
      type,
      runs.map((run) => run.columns[i]!),
    ),
  );
  if (isSorted(times, descending)) return { times, columns };
  const order = mergeOrder(times, bounds, descending);
  return {
    times: takeInt64(times, order),
    columns: columns.map((column) => takeRows(column, order)),
  };
}

/** Whether times are already in the order of the query. */
export function isSorted(times: BigInt64Array, descending: boolean): boolean {
  const halves = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  for (let i = 1; i < times.length; i++) {
    const earlier = isBefore(halves, i - 1, i);
    const later = isBefore(halves, i, i - 1);
    if (descending ? earlier : later) return false;
  }
  return true;
}

/** Whether time `a` lies before time `b`; halves are little endian, the low one is compared unsigned. */
function isBefore(halves: Int32Array, a: number, b: number): boolean {
  const highA = halves[2 * a + 1]!;
  const highB = halves[2 * b + 1]!;
  if (highA !== highB) return highA < highB;
  return halves[2 * a]! >>> 0 < halves[2 * b]! >>> 0;
}

/** Row numbers in merged order: neighbouring runs are merged pairwise until one is left. */
function mergeOrder(
  times: BigInt64Array,
  bounds: readonly number[],
  descending: boolean,
): Uint32Array {
  const halves = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  let from = new Uint32Array(times.length);
  for (let i = 0; i < from.length; i++) from[i] = i;
  let to = new Uint32Array(times.length);
  let borders = [...bounds];
  while (borders.length > 2) {
    const merged: number[] = [0];
    for (let i = 0; i + 1 < borders.length; i += 2) {
      const start = borders[i]!;
      const middle = borders[i + 1]!;
      const end = borders[i + 2] ?? middle;
      mergePair(halves, from, to, { start, middle, end, descending });
      merged.push(end);
    }
    [from, to] = [to, from];
    borders = merged;
  }
  return from;
}

type Pair = {
  readonly start: number;
  readonly middle: number;
  readonly end: number;
  readonly descending: boolean;
};

function mergePair(halves: Int32Array, from: Uint32Array, to: Uint32Array, pair: Pair): void {
  const { start, middle, end, descending } = pair;
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    if (left >= middle) to[at] = from[right++]!;
    else if (right >= end) to[at] = from[left++]!;
    else {
      const a = from[left]!;
      const b = from[right]!;
      const takesRight = descending ? isBefore(halves, a, b) : isBefore(halves, b, a);
      if (takesRight) {
        to[at] = b;
        right++;
      } else {
        to[at] = a;
        left++;
      }
    }
  }
}
