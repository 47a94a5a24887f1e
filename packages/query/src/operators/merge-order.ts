// The order in which rows of several runs come when they are merged by time. Rows of equal time in different runs have
// no order of their own. Either that of the runs is kept, or they come as in the older system, whose answers clients
// have seen: it takes them from a binary heap, in which a run that has just been read from stands behind the others,
// and compares texts of the rows as far as there are any.
// Works on 32-bit halves of the times (docs/adr/0001-int64.md).
import { compareBytes } from '@tidemark/core';
import type { StringColumn } from '@tidemark/core';

/** Sorted runs in one array of times; run `i` is rows `[bounds[i], bounds[i + 1])`. */
export type SortedRuns = {
  readonly times: BigInt64Array;
  readonly bounds: readonly number[];
  readonly descending: boolean;
};

/**
 * Row numbers in merged order; undefined when the rows are in that order already. `texts` are the columns that the
 * recorded order of equal times compares; without them equal times keep the order of the runs.
 */
export function mergeOrder(
  runs: SortedRuns,
  texts?: readonly StringColumn[],
): Uint32Array | undefined {
  const halves = halvesOf(runs.times);
  const order = pairwiseOrder(runs, halves, texts === undefined);
  return order === 'has ties' ? heapOrder(runs, halves, texts ?? []) : order;
}

function halvesOf(times: BigInt64Array): Int32Array {
  return new Int32Array(times.buffer, times.byteOffset, times.length * 2);
}

/** Whether time `a` lies before time `b`; halves are little endian, the low one is compared unsigned. */
function isBefore(halves: Int32Array, a: number, b: number): boolean {
  const highA = halves[2 * a + 1]!;
  const highB = halves[2 * b + 1]!;
  if (highA !== highB) return highA < highB;
  return halves[2 * a]! >>> 0 < halves[2 * b]! >>> 0;
}

function isEqual(halves: Int32Array, a: number, b: number): boolean {
  return halves[2 * a] === halves[2 * b] && halves[2 * a + 1] === halves[2 * b + 1];
}

/** Whether no row is out of order; equal times count as ordered when they may stay as they are. */
function isOrdered({ times, descending }: SortedRuns, halves: Int32Array, ties: boolean): boolean {
  for (let i = 1; i < times.length; i++) {
    const isRight = descending ? isBefore(halves, i, i - 1) : isBefore(halves, i - 1, i);
    if (!isRight && !(ties && isEqual(halves, i, i - 1))) return false;
  }
  return true;
}

/** Neighbouring runs are merged pairwise until one is left, equal times in the order of the runs. */
function pairwiseOrder(
  runs: SortedRuns,
  halves: Int32Array,
  allowsTies: boolean,
): Uint32Array | 'has ties' | undefined {
  const { times, bounds, descending } = runs;
  if (isOrdered(runs, halves, allowsTies)) return undefined;
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
      const hasTies = mergePair(halves, from, to, { start, middle, end, descending });
      if (hasTies && !allowsTies) return 'has ties';
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

/** Merges two neighbours; returns whether rows of both had equal times. */
function mergePair(halves: Int32Array, from: Uint32Array, to: Uint32Array, pair: Pair): boolean {
  const { start, middle, end, descending } = pair;
  let left = start;
  let right = middle;
  let hasTies = false;
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
        if (isEqual(halves, a, b)) hasTies = true;
        to[at] = a;
        left++;
      }
    }
  }
  return hasTies;
}

/** All runs at once from a binary heap of their next rows: the first is taken out, its run's next row is put in. */
function heapOrder(
  { times, bounds, descending }: SortedRuns,
  halves: Int32Array,
  texts: readonly StringColumn[],
): Uint32Array {
  const compare = { halves, texts, descending };
  const heap = new RowHeap(compare, bounds.length - 1);
  for (let i = 0; i + 1 < bounds.length; i++) {
    if (bounds[i]! < bounds[i + 1]!) heap.place(bounds[i]!, bounds[i + 1]!);
  }
  heap.arrange();
  const order = new Uint32Array(times.length);
  for (let at = 0; at < order.length; at++) order[at] = heap.takeNext();
  return order;
}

type Comparison = {
  readonly halves: Int32Array;
  readonly texts: readonly StringColumn[];
  readonly descending: boolean;
};

/** Whether a row comes before another one for sure. */
function comesFirst({ halves, texts, descending }: Comparison, a: number, b: number): boolean {
  if (!isEqual(halves, a, b)) return descending ? isBefore(halves, b, a) : isBefore(halves, a, b);
  for (const { codes, dictionary, valid } of texts) {
    // Two rows of which one lacks the text are not compared.
    if (valid !== undefined && (valid[a] === 0 || valid[b] === 0)) return false;
    const order = compareBytes(dictionary[codes[a]!]!, dictionary[codes[b]!]!);
    if (order !== 0) return descending ? order > 0 : order < 0;
  }
  return false;
}

/** The next row of each run, the first of them at the top. */
class RowHeap {
  readonly #comparison: Comparison;
  readonly #rows: Uint32Array;
  readonly #ends: Uint32Array;
  #size = 0;

  constructor(comparison: Comparison, capacity: number) {
    this.#comparison = comparison;
    this.#rows = new Uint32Array(capacity);
    this.#ends = new Uint32Array(capacity);
  }

  /** Adds rows `[row, end)` of a run at the bottom; `arrange` is called once all are there. */
  place(row: number, end: number): void {
    this.#rows[this.#size] = row;
    this.#ends[this.#size++] = end;
  }

  arrange(): void {
    for (let i = (this.#size >> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  /** Takes out the first row. Its run goes on at the bottom and rises from there. */
  takeNext(): number {
    const row = this.#rows[0]!;
    const end = this.#ends[0]!;
    const last = --this.#size;
    this.#rows[0] = this.#rows[last]!;
    this.#ends[0] = this.#ends[last]!;
    this.#sink(0);
    if (row + 1 < end) {
      this.place(row + 1, end);
      this.#rise(this.#size - 1);
    }
    return row;
  }

  #isFirst(i: number, j: number): boolean {
    return comesFirst(this.#comparison, this.#rows[i]!, this.#rows[j]!);
  }

  #sink(from: number): void {
    let i = from;
    for (;;) {
      const left = 2 * i + 1;
      if (left >= this.#size) return;
      const right = left + 1;
      const child = right < this.#size && this.#isFirst(right, left) ? right : left;
      if (!this.#isFirst(child, i)) return;
      this.#swap(i, child);
      i = child;
    }
  }

  #rise(from: number): void {
    let i = from;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.#isFirst(i, parent)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #swap(i: number, j: number): void {
    const row = this.#rows[i]!;
    const end = this.#ends[i]!;
    this.#rows[i] = this.#rows[j]!;
    this.#ends[i] = this.#ends[j]!;
    this.#rows[j] = row;
    this.#ends[j] = end;
  }
}
