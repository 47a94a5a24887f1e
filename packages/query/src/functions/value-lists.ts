// median, stddev, percentile: reducers over all numbers of the window.
import type { PointWriter, RowRef } from '../batch/point-writer.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import { selectInSteps, stepsIfMany, STEP_ITEMS } from './steps.ts';
import { ValueList } from './value-list.ts';
import type { Calculation } from './steps.ts';

const EPOCH = 0n;
const CELL_BYTES = 8;

/** Gathers the numbers of a window; the result takes steps when they are many. */
abstract class ListAccumulator implements Accumulator {
  readonly list: ValueList;

  constructor({ hold }: AccumulatorContext) {
    this.list = new ValueList(hold);
  }

  add({ column }: ReducerInput, from: number, to: number): void {
    this.list.append(column, from, to);
  }

  emit(stamp: bigint | undefined, out: PointWriter): Calculation | undefined {
    return stepsIfMany(this.list.length, this.#emitInSteps(stamp, out));
  }

  *#emitInSteps(stamp: bigint | undefined, out: PointWriter): Calculation {
    if (this.list.length > 0) yield* this.reduce(stamp, out);
    this.list.clear();
  }

  /** Appends the result of the list, which has at least one value and may be reordered. */
  protected abstract reduce(stamp: bigint | undefined, out: PointWriter): Calculation;
}

/** The middle value; of an even number of values, the middle of the two in the middle. */
export class MedianAccumulator extends ListAccumulator {
  protected *reduce(stamp: bigint | undefined, out: PointWriter): Calculation {
    const values = this.list.values();
    const middle = values.length >> 1;
    yield* selectInSteps(values, middle);
    const high = values[middle]!;
    const low = values.length % 2 === 1 ? high : yield* largestOf(values.subarray(0, middle));
    const distance =
      typeof low === 'bigint' && typeof high === 'bigint'
        ? Number(high - low)
        : Number(high) - Number(low);
    out.append(stamp ?? EPOCH, Number(low) + distance / 2);
  }
}

/** The largest of at least one value; NaN is larger than all numbers. */
function* largestOf(values: ReturnType<ValueList['values']>): Calculation<number | bigint> {
  let largest = values[0]!;
  for (let i = 1; i < values.length; i++) {
    if (i % STEP_ITEMS === 0) yield;
    const value = values[i]!;
    if (value > largest || Number.isNaN(value)) largest = value;
    if (Number.isNaN(largest)) break;
  }
  return largest;
}

/** Standard deviation of the sample. That of a single value is NaN, but is still a point. */
export class StddevAccumulator extends ListAccumulator {
  protected *reduce(stamp: bigint | undefined, out: PointWriter): Calculation {
    const values = this.list.values();
    const { length } = values;
    // The mean grows value by value and the squares are summed in a second pass, as recorded:
    // digits depend on it. NaN (the deviation of a single point) is left out; a list of nothing
    // else gives -0, as recorded.
    let mean = 0;
    let count = 0;
    for (let i = 0; i < length; i++) {
      const value = Number(values[i]);
      if (!Number.isNaN(value)) mean += (value - mean) / ++count;
      if ((i + 1) % STEP_ITEMS === 0) yield;
    }
    let squares = 0;
    for (let i = 0; i < length; i++) {
      const value = Number(values[i]);
      if (!Number.isNaN(value)) squares += (value - mean) ** 2;
      if ((i + 1) % STEP_ITEMS === 0) yield;
    }
    out.append(stamp ?? EPOCH, length < 2 ? Number.NaN : Math.sqrt(squares / (count - 1)));
  }
}

/** Rows that a list's values came from: they are searched only for the selected value. */
type Piece = { readonly input: ReducerInput; readonly from: number; readonly to: number };

/**
 * Nearest rank by value, then in the order of the query; no point for ranks outside the window's
 * points.
 */
export class PercentileAccumulator extends ListAccumulator {
  readonly #percent: number;
  readonly #needsRow: boolean;
  readonly #hold: (bytes: number) => void;
  #pieces: Piece[] = [];
  #bytes = 0;

  constructor(percent: number, context: AccumulatorContext) {
    super(context);
    this.#percent = percent;
    this.#needsRow = context.needsRow;
    this.#hold = context.hold;
  }

  override add(input: ReducerInput, from: number, to: number): void {
    super.add(input, from, to);
    if (!this.#needsRow) return;
    this.#pieces.push({ input, from, to });
    const bytes = (to - from) * (input.columns.length + 1) * CELL_BYTES;
    this.#bytes += bytes;
    this.#hold(bytes);
  }

  override emit(stamp: bigint | undefined, out: PointWriter): Calculation | undefined {
    const steps = super.emit(stamp, out);
    // A window of nulls has pieces, and no value.
    if (this.list.length === 0) this.#forget();
    return steps;
  }

  protected *reduce(stamp: bigint | undefined, out: PointWriter): Calculation {
    const values = this.list.values();
    const rank = Math.floor((values.length * this.#percent) / 100 + 0.5) - 1;
    if (rank >= 0 && rank < values.length) {
      yield* selectInSteps(values, rank);
      const value = values[rank]!;
      if (!this.#needsRow) out.append(stamp ?? EPOCH, value);
      else {
        const equalBefore = yield* countEqual(values.subarray(0, rank), value);
        const found = yield* nthEqual(this.#pieces, value, equalBefore);
        if (found !== undefined) out.append(stamp ?? found.time, value, found.row);
      }
    }
    this.#forget();
  }

  #forget(): void {
    this.#pieces = [];
    this.#hold(-this.#bytes);
    this.#bytes = 0;
  }
}

function* countEqual(
  values: ReturnType<ValueList['values']>,
  value: number | bigint,
): Calculation<number> {
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if ((i + 1) % STEP_ITEMS === 0) yield;
    if (isSame(values[i]!, value)) count++;
  }
  return count;
}

/** Whether values are equal; all NaN values (deviations of a single point) are. */
function isSame(a: number | bigint, b: number | bigint): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

/** The n-th point with a value, in the order of arrival. */
function* nthEqual(
  pieces: readonly Piece[],
  value: number | bigint,
  n: number,
): Calculation<{ readonly time: bigint; readonly row: RowRef } | undefined> {
  let left = n;
  let seen = 0;
  for (const { input, from, to } of pieces) {
    const { column, times, columns } = input;
    if (column.type === 'string' || column.type === 'boolean') continue;
    for (let i = from; i < to; i++) {
      if (++seen % STEP_ITEMS === 0) yield;
      if (!isSame(column.values[i]!, value)) continue;
      if (column.valid !== undefined && column.valid[i] !== 1) continue;
      if (left === 0) return { time: times[i]!, row: { columns, row: i } };
      left--;
    }
  }
  return undefined;
}
