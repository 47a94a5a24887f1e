// Which points of equal time `first` and `last` see, as recorded. InfluxDB merges the series of a
// shard with a heap that starts with the first row of each series (for `last`: the last row, in
// reverse order of the keys), and takes the larger of the first two rows that come out. It never
// looks at other rows of that time. The order of the remaining rows does not matter, because they
// come after all rows with the best time.
import type { FieldValue } from '@tidemark/core';
import { compareBytes } from '@tidemark/core';

export type EndFunction = 'first' | 'last';

export function isEndFunction(name: string | undefined): name is EndFunction {
  return name === 'first' || name === 'last';
}

/** A row that has the best time of its shard. */
export type TiedRow = {
  /** Number of its series among those that have a row in the shard, in the order of keys. */
  readonly place: number;
  readonly value: FieldValue;
};

/**
 * The chosen row. `seriesCount` series have a row in the shard; `compare` orders rows of one time
 * if the merge compares more than times.
 */
export function pickTied<T extends TiedRow>(
  tied: readonly [T, ...T[]],
  seriesCount: number,
  name: EndFunction,
  compare: (a: T, b: T) => number = () => 0,
): T {
  if (tied.length === 1) return tied[0];
  const [one, two] = firstTwo(tied, seriesCount, name, compare);
  return isPreferred(two.value, one.value, name) ? two : one;
}

/**
 * Whether a value is preferred among two of one time: the larger one, but `first` prefers false.
 */
export function isPreferred(value: FieldValue, other: FieldValue, name: EndFunction): boolean {
  if (typeof value === 'boolean' && name === 'first') return value < other;
  return isLarger(value, other);
}

/** Whether a value is the larger of two; texts are compared by their bytes. */
export function isLarger(value: FieldValue, other: FieldValue): boolean {
  if (typeof value !== 'string' || typeof other !== 'string') return value > other;
  return compareBytes(value, other) > 0;
}

/** The first two rows that the heap gives. */
function firstTwo<T extends TiedRow>(
  tied: readonly [T, ...T[]],
  seriesCount: number,
  name: EndFunction,
  compare: (a: T, b: T) => number,
): readonly [T, T] {
  /** Number of the row in `tied` plus one, 0 for rows of other times. */
  const heap = new Uint32Array(seriesCount);
  for (const [i, { place }] of tied.entries()) {
    heap[name === 'last' ? seriesCount - 1 - place : place] = i + 1;
  }
  const isLess = (a: number, b: number): boolean => {
    if (a === 0 || b === 0) return a !== 0 && b === 0;
    return compare(tied[a - 1]!, tied[b - 1]!) < 0;
  };
  for (let at = (seriesCount >> 1) - 1; at >= 0; at--) sink(heap, at, isLess);
  const one = heap[0]!;
  heap[0] = heap[seriesCount - 1]!;
  const rest = heap.subarray(0, seriesCount - 1);
  sink(rest, 0, isLess);
  return [tied[one - 1]!, tied[rest[0]! - 1]!];
}

/** Moves an element down until none below it is less; of two that are equal, the left one rises. */
function sink(heap: Uint32Array, from: number, isLess: (a: number, b: number) => boolean): void {
  for (let at = from, child = 2 * from + 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && isLess(heap[child + 1]!, heap[child]!)) child++;
    if (!isLess(heap[child]!, heap[at]!)) return;
    const moved = heap[at]!;
    heap[at] = heap[child]!;
    heap[child] = moved;
    at = child;
  }
}
