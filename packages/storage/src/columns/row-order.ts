// The order of rows: by time, or by series and then by time.
import { MAX_INT64, MIN_INT64 } from '@tidemark/core';

import type { TimeBounds } from './row-block.ts';

/**
 * Keys of rows. Times are compared as 32-bit halves, because a bigint per comparison is ten times
 * slower (docs/adr/0001-int64.md).
 */
export class RowKeys {
  readonly length: number;
  readonly #series: Uint32Array | undefined;
  readonly #halves: Int32Array;

  /** Without `series`, all rows belong to one series. */
  constructor(times: BigInt64Array, series?: Uint32Array) {
    this.length = times.length;
    this.#series = series;
    this.#halves = halvesOf(times);
  }

  /** Whether no row comes before the one in front of it. */
  areOrdered(): boolean {
    for (let row = 1; row < this.length; row++) if (this.isBefore(row, row - 1)) return false;
    return true;
  }

  /** Whether row `a` comes before row `b`. */
  isBefore(a: number, b: number): boolean {
    const series = this.#series;
    if (series !== undefined && series[a] !== series[b]) return series[a]! < series[b]!;
    const halves = this.#halves;
    const highA = halves[2 * a + 1]!;
    const highB = halves[2 * b + 1]!;
    if (highA !== highB) return highA < highB;
    return (halves[2 * a]! ^ SIGN) < (halves[2 * b]! ^ SIGN);
  }
}

/**
 * Rows [start, end) of one series ascend strictly in time up to this one: `end` when all do. Takes
 * the two halves of each time. Looks at every row of every flush, so it calls nothing and makes no
 * numbers beyond 31 bits.
 */
export function ascendingEnd(halves: Int32Array, start: number, end: number): number {
  if (start >= end) return end;
  let low = halves[2 * start]! ^ SIGN;
  let high = halves[2 * start + 1]!;
  for (let row = start + 1; row < end; row++) {
    const nextLow = halves[2 * row]! ^ SIGN;
    const nextHigh = halves[2 * row + 1]!;
    if (nextHigh < high || (nextHigh === high && nextLow <= low)) return row;
    low = nextLow;
    high = nextHigh;
  }
  return end;
}

/** First and last of times in any order; the first above the last when there are none. */
export function timeBoundsOf(times: BigInt64Array): TimeBounds {
  if (times.length === 0) return { min: MAX_INT64, max: MIN_INT64 };
  const halves = halvesOf(times);
  let minLow = halves[0]! ^ SIGN;
  let minHigh = halves[1]!;
  let maxLow = minLow;
  let maxHigh = minHigh;
  let min = 0;
  let max = 0;
  for (let row = 1; row < times.length; row++) {
    const low = halves[2 * row]! ^ SIGN;
    const high = halves[2 * row + 1]!;
    if (high < minHigh || (high === minHigh && low < minLow)) {
      min = row;
      minLow = low;
      minHigh = high;
    } else if (high > maxHigh || (high === maxHigh && low > maxLow)) {
      max = row;
      maxLow = low;
      maxHigh = high;
    }
  }
  return { min: times[min]!, max: times[max]! };
}

/** Low halves are unsigned: with this bit turned they compare as signed numbers. */
const SIGN = 1 << 31;

/** Times as 32-bit halves, little endian. */
export function halvesOf(times: BigInt64Array): Int32Array {
  return new Int32Array(times.buffer, times.byteOffset, times.length * 2);
}

/**
 * Row numbers in the order of their keys, stable. A merge sort that starts from the ascending runs
 * which are there already: there are few, one per source of rows.
 */
export function rowOrder(keys: RowKeys): Uint32Array {
  let from = new Uint32Array(keys.length);
  const borders = [0];
  for (let i = 0; i < from.length; i++) {
    from[i] = i;
    if (i > 0 && keys.isBefore(i, i - 1)) borders.push(i);
  }
  borders.push(keys.length);
  let to = new Uint32Array(keys.length);
  while (borders.length > 2) {
    let kept = 1;
    for (let i = 0; i + 1 < borders.length; i += 2) {
      const middle = borders[i + 1]!;
      const end = borders[i + 2] ?? middle;
      mergeHalves(keys, { from, to, start: borders[i]!, middle, end });
      borders[kept++] = end;
    }
    borders.length = kept;
    [from, to] = [to, from];
  }
  return from;
}

/**
 * The rows by the number of their group, stable; those whose number is not below `count` are left
 * out. `order` is the order of the rows before, if it is not that of their numbers.
 */
export function orderByGroup(
  groups: Uint32Array,
  count: number,
  order: Uint32Array | undefined,
): Uint32Array {
  // At the place of a group: where its next row goes.
  const next = new Uint32Array(count + 1);
  for (let row = 0; row < groups.length; row++) {
    const group = groups[row]!;
    if (group < count) next[group + 1]!++;
  }
  for (let group = 1; group <= count; group++) next[group]! += next[group - 1]!;
  const sorted = new Uint32Array(next[count]!);
  for (let at = 0; at < groups.length; at++) {
    const row = order === undefined ? at : order[at]!;
    const group = groups[row]!;
    if (group < count) sorted[next[group]!++] = row;
  }
  return sorted;
}

type Halves = {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly start: number;
  readonly middle: number;
  readonly end: number;
};

function mergeHalves(keys: RowKeys, { from, to, start, middle, end }: Halves): void {
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const takesRight = left >= middle || (right < end && keys.isBefore(from[right]!, from[left]!));
    to[at] = takesRight ? from[right++]! : from[left++]!;
  }
}
