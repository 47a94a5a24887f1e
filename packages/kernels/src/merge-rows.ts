// Merges sorted runs of rows by time: finds the order of rows, and sorts columns into it, in linear
// memory. Rows of equal time in different runs have no natural order. Either the order of their
// runs is kept, or they are ordered as in InfluxDB, because clients depend on that order: it takes
// rows from a binary heap, in which a run goes after the others after a row of it was taken, and
// compares ranks of the rows where there are any.
import { assert, copyParts } from '@tidemark/core';
import type { ColumnValues } from '@tidemark/core';

import { Area } from './abi.gen.ts';
import { Kernels } from './loader.ts';

/** Runs of rows that are sorted by time. Run `i` has the rows `[bounds[i], bounds[i + 1])`. */
export type SortedRuns = {
  readonly times: BigInt64Array;
  readonly bounds: readonly number[];
  readonly descending: boolean;
};

/** The order of rows with equal times in different runs. */
export type TieOrder =
  /** The order in which these runs are listed. */
  | { readonly kind: 'runs'; readonly runs: Uint32Array }
  /**
   * The order of the heap. Each column has a rank per row; columns are compared one after another,
   * and rank 0 is not compared.
   */
  | { readonly kind: 'heap'; readonly ranks: () => readonly Uint32Array[] };

/** Rows merged between two pauses, in less than a millisecond. */
const STEP_ROWS = 32_768;
/** Less than `STEP_ROWS`, because the heap of a thousand runs takes 0.2 µs per row. */
const HEAP_STEP_ROWS = 4096;

/**
 * Larger merges use a linear memory of their own, which is dropped with them: linear memory never
 * shrinks.
 */
const SHARED_BYTES = 16 << 20;

/** An order of rows. Must be closed. */
export class RowOrder {
  readonly #memory: MergeMemory;
  readonly #address: number;
  readonly rowCount: number;

  constructor(memory: MergeMemory, address: number, rowCount: number) {
    this.#memory = memory;
    this.#address = address;
    this.rowCount = rowCount;
  }

  /** A copy of the values of consecutive parts, in this order. */
  take<T extends ColumnValues>(parts: readonly T[]): T {
    const [first] = parts;
    assert(first !== undefined, 'an order of rows has rows');
    const { kernels } = this.#memory;
    const { rowCount } = this;
    const width = first.BYTES_PER_ELEMENT;
    const source = kernels.scratch(Area.input, rowCount * width);
    const output = kernels.scratch(Area.output, rowCount * width);
    // The constructor of the same class.
    const Kind = first.constructor as new (buffer: ArrayBuffer, at?: number, length?: number) => T;
    copyParts(new Kind(kernels.buffer, source, rowCount), parts);
    kernels.exports.gatherRows(this.#address, rowCount, source, width, output);
    return new Kind(kernels.buffer.slice(output, output + rowCount * width));
  }

  close(): void {
    this.#memory.free();
  }
}

/**
 * Merges the runs; `undefined` when the rows are in order already. Pauses every millisecond or so;
 * meanwhile the runs must not change. Throws `Unavailable` when linear memory is exhausted.
 */
export function* mergeOrder(
  shared: Kernels,
  runs: SortedRuns,
  ties: TieOrder,
): Generator<undefined, RowOrder | undefined> {
  const rows = runs.times.length;
  const memory = new MergeMemory(shared, rows * 16);
  let order: RowOrder | undefined;
  try {
    const merge = new Merge(memory, runs);
    if (yield* merge.isDone(ties)) return undefined;
    let address = yield* merge.pairwise(ties);
    if (address === undefined && ties.kind === 'heap') address = yield* merge.heap(ties.ranks());
    assert(address !== undefined, 'an order of the runs decides ties');
    order = new RowOrder(memory, address, rows);
    return order;
  } finally {
    if (order === undefined) memory.free();
  }
}

/** Parts of linear memory that are freed together. */
class MergeMemory {
  readonly kernels: Kernels;
  readonly #parts: { readonly address: number; readonly sizeBytes: number }[] = [];

  constructor(shared: Kernels, neededBytes: number) {
    this.kernels = neededBytes > SHARED_BYTES ? new Kernels() : shared;
  }

  take(sizeBytes: number): number {
    const address = this.kernels.allocate(sizeBytes);
    this.#parts.push({ address, sizeBytes });
    return address;
  }

  /** Copies an array and returns the address. */
  copy(values: BigInt64Array | Uint32Array): number {
    const address = this.take(values.byteLength);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.kernels.bytes.set(bytes, address);
    return address;
  }

  free(): void {
    for (const { address, sizeBytes } of this.#parts) {
      this.kernels.free(address, sizeBytes);
    }
    this.#parts.length = 0;
  }
}

/** A merge in progress. */
class Merge {
  readonly #memory: MergeMemory;
  readonly #bounds: readonly number[];
  readonly #rows: number;
  /** -1 for descending runs: complementing the times reverses their order. */
  readonly #flip: bigint;
  readonly #times: number;

  constructor(memory: MergeMemory, { times, bounds, descending }: SortedRuns) {
    this.#memory = memory;
    this.#bounds = bounds;
    this.#rows = times.length;
    this.#flip = descending ? -1n : 0n;
    this.#times = memory.copy(times);
  }

  /** Whether all rows are in the wanted order already. */
  *isDone(ties: TieOrder): Generator<undefined, boolean> {
    if (ties.kind === 'runs' && !ties.runs.every((run, i) => run === i)) return false;
    const { areOrdered } = this.#memory.kernels.exports;
    const allowsEqual = ties.kind === 'runs' ? 1 : 0;
    for (let from = 0; from < this.#rows; from += STEP_ROWS) {
      const to = Math.min(this.#rows, from + STEP_ROWS);
      if (areOrdered(this.#times, from, to, this.#flip, allowsEqual) === 0) return false;
      yield undefined;
    }
    return true;
  }

  /**
   * Merges neighbouring runs until one is left. `undefined` when there are equal times whose order
   * depends on the heap.
   */
  *pairwise(ties: TieOrder): Generator<undefined, number | undefined> {
    const { order, borders: first } = this.#layOut(ties);
    let from = this.#memory.copy(order);
    let to = this.#memory.take(order.byteLength);
    let borders = first;
    while (borders.length > 2) {
      const merged = [0];
      for (let i = 0; i + 1 < borders.length; i += 2) {
        const [start, middle] = [borders[i]!, borders[i + 1]!];
        const end = borders[i + 2] ?? middle;
        const metEqual = yield* this.#mergePair({ from, to, start, middle, end });
        if (metEqual && ties.kind === 'heap') return undefined;
        merged.push(end);
      }
      [from, to] = [to, from];
      borders = merged;
    }
    return from;
  }

  /** Row numbers, run by run, and the borders of the runs in that list. */
  #layOut(ties: TieOrder): { readonly order: Uint32Array; readonly borders: number[] } {
    const order = new Uint32Array(this.#rows);
    const borders = [0];
    let at = 0;
    for (let i = 0; i + 1 < this.#bounds.length; i++) {
      const run = ties.kind === 'runs' ? ties.runs[i]! : i;
      const end = this.#bounds[run + 1]!;
      if (end === this.#bounds[run]) continue;
      for (let row = this.#bounds[run]!; row < end; row++) order[at++] = row;
      borders.push(at);
    }
    return { order, borders };
  }

  /** Merges two neighbours. Returns whether both had a row of the same time. */
  *#mergePair({ from, to, start, middle, end }: Pair): Generator<undefined, boolean> {
    const { exports } = this.#memory.kernels;
    let left = start;
    let right = middle;
    let metEqual = false;
    for (let at = start; at < end;) {
      const count = exports.mergeByTime(
        this.#times,
        from + left * 4,
        middle - left,
        from + right * 4,
        end - right,
        to + at * 4,
        STEP_ROWS,
        this.#flip,
      );
      const fromLeft = exports.mergedRowsFromLeft();
      left += fromLeft;
      right += count - fromLeft;
      at += count;
      if (exports.mergedEqualTimes() !== 0) metEqual = true;
      if (count === STEP_ROWS) yield undefined;
    }
    return metEqual;
  }

  /** Merges all runs at once with a heap of their next rows. */
  *heap(ranks: readonly Uint32Array[]): Generator<undefined, number> {
    const { exports } = this.#memory.kernels;
    const runCount = this.#bounds.length - 1;
    const bounds = new Uint32Array(runCount * 2);
    for (let i = 0; i < runCount; i++) {
      bounds[2 * i] = this.#bounds[i]!;
      bounds[2 * i + 1] = this.#bounds[i + 1]!;
    }
    const boundsAt = this.#memory.copy(bounds);
    const ranksAt = this.#memory.take(this.#rows * ranks.length * 4);
    for (const [i, column] of ranks.entries()) {
      assert(column.length === this.#rows, 'a rank for every row');
      const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
      this.#memory.kernels.bytes.set(bytes, ranksAt + i * this.#rows * 4);
    }
    const heap = this.#memory.take(exports.runHeapBytes(runCount));
    const { length } = ranks;
    const [times, rows] = [this.#times, this.#rows];
    exports.openRunHeap(heap, times, boundsAt, runCount, ranksAt, length, rows, this.#flip);
    const order = this.#memory.take(rows * 4);
    for (let at = 0; at < rows;) {
      yield undefined;
      at += exports.takeFromRunHeap(heap, order + at * 4, HEAP_STEP_ROWS);
    }
    return order;
  }
}

type Pair = {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly middle: number;
  readonly end: number;
};
