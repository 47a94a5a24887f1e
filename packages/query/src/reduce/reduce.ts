// Cuts the rows of a group into windows and reduces each of them.
import type { Accumulator, ReducerInput } from '../functions/reducers.ts';
import { STEP_ITEMS } from '../functions/steps.ts';
import type { PointBatch } from '../batch/point-batch.ts';
import type { PointWriter } from '../batch/point-writer.ts';
import type { SortedRows } from '../merge/merge-sorted-rows.ts';
import type { Window, Windows } from '../plan/windows.ts';
import type { Calculation } from '../functions/steps.ts';

export type ReduceOptions = {
  /** `undefined`: the whole group is one window. */
  readonly windows: Windows | undefined;
  /** Stamp of the only window. */
  readonly wholeStamp: bigint;
  /** Points keep their own time. */
  readonly keepsPointTime: boolean;
  readonly descending: boolean;
  /** Rows come in the order of the query, but only batch by batch: all windows stay open. */
  readonly anyOrder: boolean;
  readonly input: number;
  /** Counts memory of open windows, negative when it is freed. */
  readonly hold: (bytes: number) => void;
};

/** An open window that waits for more rows, with its accumulator. */
const WINDOW_BYTES = 300;

/** Reduces one call of one group. */
export class Reduction {
  readonly #options: ReduceOptions;
  readonly #newAccumulator: () => Accumulator;
  readonly #out: PointWriter;
  #accumulator: Accumulator;
  #window: Window | undefined;
  /** In any order: the open windows by their starts. */
  readonly #open = new Map<
    bigint,
    { readonly window: Window; readonly accumulator: Accumulator }
  >();

  constructor(options: ReduceOptions, accumulator: () => Accumulator, out: PointWriter) {
    this.#options = options;
    this.#newAccumulator = accumulator;
    this.#accumulator = accumulator();
    this.#out = out;
  }

  /**
   * Takes rows; returns the points of windows that have ended, if there are any. Large windows end
   * in steps.
   */
  *push(sorted: SortedRows): Calculation<PointBatch | undefined> {
    const { times, columns } = sorted;
    const { windows, input, descending } = this.#options;
    const column = columns[input];
    if (column === undefined) return undefined;
    const rows = { times, column, columns };
    if (windows === undefined) {
      yield* this.#add(rows, 0, times.length);
      return undefined;
    }
    let pause = STEP_ITEMS;
    for (let row = 0; row < times.length;) {
      const time = times[row]!;
      let window = this.#window;
      if (window === undefined || !contains(window, time)) {
        window = windows.of(time);
        yield* this.#enter(window);
      }
      const end = windowEnd(times, row, window, descending);
      if (end - row <= STEP_ITEMS) this.#accumulator.add(rows, row, end);
      else yield* this.#add(rows, row, end);
      row = end;
      if (row < pause) continue;
      pause = row + STEP_ITEMS;
      yield;
    }
    return this.#out.rowCount > 0 ? this.#out.take() : undefined;
  }

  *#enter(window: Window): Calculation {
    if (!this.#options.anyOrder) yield* this.#close() ?? [];
    this.#window = window;
    if (!this.#options.anyOrder) return;
    const known = this.#open.get(window.start);
    this.#accumulator = known?.accumulator ?? this.#newAccumulator();
    if (known !== undefined) return;
    this.#open.set(window.start, { window, accumulator: this.#accumulator });
    this.#options.hold(WINDOW_BYTES);
  }

  /** Ends the group: the points of the last window, or of all that are open. */
  *finish(): Calculation<PointBatch | undefined> {
    const starts = [...this.#open.keys()].sort((a, b) => (a < b ? -1 : 1));
    if (this.#options.descending) starts.reverse();
    for (const start of starts) {
      ({ window: this.#window, accumulator: this.#accumulator } = this.#open.get(start)!);
      yield* this.#close() ?? [];
    }
    this.#options.hold(-this.#open.size * WINDOW_BYTES);
    this.#open.clear();
    if (this.#options.windows === undefined) {
      const { keepsPointTime, wholeStamp } = this.#options;
      yield* this.#accumulator.emit(keepsPointTime ? undefined : wholeStamp, this.#out) ?? [];
    } else {
      yield* this.#close() ?? [];
    }
    return this.#out.rowCount > 0 ? this.#out.take() : undefined;
  }

  /** Rows of one window, which may be very many. */
  *#add(rows: ReducerInput, from: number, to: number): Calculation {
    for (let start = from; start < to; start += STEP_ITEMS) {
      if (start > from) yield;
      this.#accumulator.add(rows, start, Math.min(to, start + STEP_ITEMS));
    }
  }

  #close(): Calculation | undefined {
    const window = this.#window;
    if (window === undefined) return undefined;
    this.#window = undefined;
    return this.#accumulator.emit(
      this.#options.keepsPointTime ? undefined : window.start,
      this.#out,
    );
  }
}

function contains(window: Window, time: bigint): boolean {
  return time >= window.start && time < window.end;
}

/**
 * First row after the window, found by doubling steps: windows are short or long, rarely in
 * between.
 */
function windowEnd(
  times: BigInt64Array,
  start: number,
  window: Window,
  descending: boolean,
): number {
  const isInside = (row: number): boolean =>
    descending ? times[row]! >= window.start : times[row]! < window.end;
  let low = start;
  let step = 1;
  while (low + step < times.length && isInside(low + step)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, times.length);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isInside(middle)) low = middle;
    else high = middle;
  }
  return high;
}
