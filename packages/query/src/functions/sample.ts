// sample: a reservoir of n points of the window, in the order of the query.
import type { FieldValue } from '@tidemark/core';
import { columnValue } from '@tidemark/core';

import type { LeafWriter, RowRef } from '../operators/leaf-writer.ts';
import type { Accumulator, ReducerInput } from './reducers.ts';

type Kept = {
  readonly sequence: number;
  readonly time: bigint;
  readonly value: FieldValue;
  readonly row: RowRef;
};

export class SampleAccumulator implements Accumulator {
  readonly #size: number;
  readonly #random: () => number;
  #kept: Kept[] = [];
  #seen = 0;

  constructor(size: number, random: () => number) {
    this.#size = size;
    this.#random = random;
  }

  add({ times, column, columns }: ReducerInput, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = columnValue(column, i);
      if (value === null) continue;
      const sequence = this.#seen++;
      const at = sequence < this.#size ? sequence : Math.floor(this.#random() * this.#seen);
      if (at >= this.#size) continue;
      this.#kept[at] = { sequence, time: times[i]!, value, row: { columns, row: i } };
    }
  }

  emit(_stamp: bigint | undefined, out: LeafWriter): void {
    this.#kept.sort((a, b) => a.sequence - b.sequence);
    for (const { time, value, row } of this.#kept) out.append(time, value, row);
    this.#kept = [];
    this.#seen = 0;
  }
}
