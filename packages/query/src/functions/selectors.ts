// min, max, first, last: reducers that pick one point of the window.
import type { FieldValue } from '@tidemark/core';
import { columnValue } from '@tidemark/core';

import type { PointWriter } from '../batch/point-writer.ts';
import { isLarger, isPreferred } from './merge-heads.ts';
import type { Accumulator, ReducerInput } from './reducers.ts';
import type { SelectedPoint } from './retained-rows.ts';

/** Keeps the best point of the window. */
abstract class Picker implements Accumulator {
  protected best: SelectedPoint | undefined;

  add(input: ReducerInput, from: number, to: number): void {
    const { column, times, columns } = input;
    const { valid } = column;
    for (let i = from; i < to; i++) {
      if (valid !== undefined && valid[i] !== 1) continue;
      const time = times[i]!;
      if (this.best !== undefined && !this.mayWin(time, this.best)) continue;
      const value = columnValue(column, i);
      if (value === null) continue;
      if (this.best !== undefined && !this.isBetter(time, value, this.best)) continue;
      this.best = { time, value, row: { columns, row: i } };
    }
  }

  emit(stamp: bigint | undefined, out: PointWriter): undefined {
    const { best } = this;
    this.best = undefined;
    if (best !== undefined) out.append(stamp ?? best.time, best.value, best.row);
  }

  /** Whether a point may be better by its time: only then its value is read. */
  protected mayWin(_time: bigint, _best: SelectedPoint): boolean {
    return true;
  }

  protected abstract isBetter(time: bigint, value: FieldValue, best: SelectedPoint): boolean;
}

/** Smallest or largest value; the earliest point among equals. */
export class ExtremeAccumulator extends Picker {
  readonly #wantsMax: boolean;

  constructor(kind: 'min' | 'max') {
    super();
    this.#wantsMax = kind === 'max';
  }

  protected isBetter(time: bigint, value: FieldValue, best: SelectedPoint): boolean {
    if (value === best.value) return time < best.time;
    return this.#wantsMax ? isLarger(value, best.value) : isLarger(best.value, value);
  }
}

/** Oldest or newest point; among equal times the preferred value. */
export class FirstLastAccumulator extends Picker {
  readonly #wantsLast: boolean;

  constructor(kind: 'first' | 'last') {
    super();
    this.#wantsLast = kind === 'last';
  }

  protected override mayWin(time: bigint, best: SelectedPoint): boolean {
    return this.#wantsLast ? time >= best.time : time <= best.time;
  }

  protected isBetter(time: bigint, value: FieldValue, best: SelectedPoint): boolean {
    if (time !== best.time) return this.#wantsLast ? time > best.time : time < best.time;
    return isPreferred(value, best.value, this.#wantsLast ? 'last' : 'first');
  }
}
