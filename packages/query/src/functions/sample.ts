// sample: a reservoir of n points of the window, in the order of the query.
import { columnValue } from '@tidemark/core';

import type { PointWriter } from '../batch/point-writer.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import { emitPoints, RetainedRows } from './retained-rows.ts';
import type { SelectedPoint } from './retained-rows.ts';
import { sortInSteps, stepsIfMany } from './steps.ts';
import type { Calculation } from './steps.ts';

type Sampled = SelectedPoint & { readonly sequence: number };

export class SampleAccumulator implements Accumulator {
  readonly #size: number;
  readonly #random: () => number;
  readonly #retained: RetainedRows;
  #sample: Sampled[] = [];
  #seen = 0;

  constructor(size: number, { random, hold }: AccumulatorContext) {
    this.#size = size;
    this.#random = random;
    this.#retained = new RetainedRows(hold);
  }

  add({ times, column, columns }: ReducerInput, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = columnValue(column, i);
      if (value === null) continue;
      const sequence = this.#seen++;
      const at = sequence < this.#size ? sequence : Math.floor(this.#random() * this.#seen);
      if (at >= this.#size) continue;
      const before = this.#sample[at];
      if (before !== undefined) this.#retained.drop(before.row);
      const row = { columns, row: i };
      this.#retained.add(row);
      this.#sample[at] = { sequence, time: times[i]!, value, row };
    }
  }

  emit(_stamp: bigint | undefined, out: PointWriter): Calculation | undefined {
    return stepsIfMany(this.#sample.length, this.#emitInSteps(out));
  }

  *#emitInSteps(out: PointWriter): Calculation {
    const sample = yield* sortInSteps(this.#sample, (a, b) => a.sequence - b.sequence);
    yield* emitPoints(sample, out);
    this.#sample = [];
    this.#retained.clear();
    this.#seen = 0;
  }
}
