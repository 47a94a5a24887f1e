// Cuts the rows of a group into windows and reduces each of them.
import type { FieldType } from '@tidemark/core';

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
  readonly input: number;
  readonly inputType: FieldType;
};

/** Reduces one call of one group. Rows come in the time order of the query. */
export class Reduction {
  readonly #options: ReduceOptions;
  readonly #accumulator: Accumulator;
  readonly #out: PointWriter;
  #window: Window | undefined;

  constructor(options: ReduceOptions, accumulator: Accumulator, out: PointWriter) {
    this.#options = options;
    this.#accumulator = accumulator;
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
      if (this.#window === undefined || !contains(this.#window, time)) {
        yield* this.#close() ?? [];
        this.#window = windows.of(time);
      }
      const end = windowEnd(times, row, this.#window, descending);
      if (end - row <= STEP_ITEMS) this.#accumulator.add(rows, row, end);
      else yield* this.#add(rows, row, end);
      row = end;
      if (row < pause) continue;
      pause = row + STEP_ITEMS;
      yield;
    }
    return this.#out.rowCount > 0 ? this.#out.take() : undefined;
  }

  /** Ends the group: the points of the last window. */
  *finish(): Calculation<PointBatch | undefined> {
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
