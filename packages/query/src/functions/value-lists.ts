// median, stddev, percentile: reducers over all numbers of the window.
import type { LeafWriter, RowRef } from '../operators/leaf-writer.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import { ValueList } from './value-list.ts';

const EPOCH = 0n;

/** The middle value; of an even number of values, the middle of the two in the middle. */
export class MedianAccumulator implements Accumulator {
  readonly #list: ValueList;

  constructor({ hold }: AccumulatorContext) {
    this.#list = new ValueList(hold);
  }

  add({ column }: ReducerInput, from: number, to: number): void {
    this.#list.append(column, from, to);
  }

  emit(stamp: bigint | undefined, out: LeafWriter): void {
    const sorted = this.#list.sorted();
    this.#list.clear();
    const high = sorted[sorted.length >> 1];
    if (high === undefined) return;
    const low = sorted.length % 2 === 1 ? high : sorted[(sorted.length >> 1) - 1]!;
    const distance =
      typeof low === 'bigint' && typeof high === 'bigint'
        ? Number(BigInt.asIntN(64, high - low))
        : Number(high) - Number(low);
    out.append(stamp ?? EPOCH, Number(low) + distance / 2);
  }
}

/** Standard deviation of the sample; a single value has none, which is a point all the same: not a number. */
export class StddevAccumulator implements Accumulator {
  readonly #list: ValueList;

  constructor({ hold }: AccumulatorContext) {
    this.#list = new ValueList(hold);
  }

  add({ column }: ReducerInput, from: number, to: number): void {
    this.#list.append(column, from, to);
  }

  emit(stamp: bigint | undefined, out: LeafWriter): void {
    const values = Float64Array.from(this.#list.values(), Number);
    this.#list.clear();
    const { length } = values;
    if (length === 0) return;
    // The mean grows value by value and the squares are summed in a second pass, as recorded: digits depend on it.
    // What is no number (the deviation of a single point) is left out; of nothing else it comes to -0, as recorded.
    let mean = 0;
    let count = 0;
    for (let i = 0; i < length; i++) {
      if (!Number.isNaN(values[i]!)) mean += (values[i]! - mean) / ++count;
    }
    let squares = 0;
    for (let i = 0; i < length; i++) {
      if (!Number.isNaN(values[i]!)) squares += (values[i]! - mean) ** 2;
    }
    out.append(stamp ?? EPOCH, length < 2 ? Number.NaN : Math.sqrt(squares / (count - 1)));
  }
}

/** Rows that a list's values came from: they are looked up again only for the one that is picked. */
type Piece = { readonly input: ReducerInput; readonly from: number; readonly to: number };

/** Nearest rank by value, then in the order of the query; no point for ranks outside the window's points. */
export class PercentileAccumulator implements Accumulator {
  readonly #percent: number;
  readonly #list: ValueList;
  #pieces: Piece[] = [];

  constructor(percent: number, { hold }: AccumulatorContext) {
    this.#percent = percent;
    this.#list = new ValueList(hold);
  }

  add(input: ReducerInput, from: number, to: number): void {
    this.#list.append(input.column, from, to);
    this.#pieces.push({ input, from, to });
  }

  emit(stamp: bigint | undefined, out: LeafWriter): void {
    const sorted = this.#list.sorted();
    const pieces = this.#pieces;
    this.#list.clear();
    this.#pieces = [];
    const rank = Math.floor((sorted.length * this.#percent) / 100 + 0.5) - 1;
    const value = sorted[rank];
    if (value === undefined) return;
    let equalBefore = 0;
    while (equalBefore < rank && isSame(sorted[rank - equalBefore - 1]!, value)) equalBefore++;
    const found = nthEqual(pieces, value, equalBefore);
    if (found !== undefined) out.append(stamp ?? found.time, value, found.row);
  }
}

/** Equal values; a value that is no number (the deviation of a single point) is like any other such. */
function isSame(a: number | bigint, b: number | bigint): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

/** The n-th point that holds a value, in the order in which they came. */
function nthEqual(
  pieces: readonly Piece[],
  value: number | bigint,
  n: number,
): { readonly time: bigint; readonly row: RowRef } | undefined {
  let left = n;
  for (const { input, from, to } of pieces) {
    const { column, times, columns } = input;
    if (column.type === 'string' || column.type === 'boolean') continue;
    for (let i = from; i < to; i++) {
      if (!isSame(column.values[i]!, value)) continue;
      if (column.valid !== undefined && column.valid[i] !== 1) continue;
      if (left === 0) return { time: times[i]!, row: { columns, row: i } };
      left--;
    }
  }
  return undefined;
}
