// count, sum, mean, spread: reducers that keep a few numbers per window.
import { wrapInteger } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';

import type { PointWriter } from '../batch/point-writer.ts';
import type { Accumulator, ReducerInput } from './reducers.ts';

const EPOCH = 0n;

export class CountAccumulator implements Accumulator {
  #count = 0;

  add({ column }: ReducerInput, from: number, to: number): void {
    const { valid } = column;
    if (valid === undefined) {
      this.#count += to - from;
      return;
    }
    let count = 0;
    for (let i = from; i < to; i++) count += valid[i]!;
    this.#count += count;
  }

  emit(stamp: bigint | undefined, out: PointWriter): undefined {
    if (this.#count > 0) out.append(stamp ?? EPOCH, BigInt(this.#count));
    this.#count = 0;
  }
}

/** Sum and count in the type of the field. */
class RunningSum {
  count = 0;
  float = 0;
  integer = 0n;
  readonly #type: FieldType;

  constructor(type: FieldType) {
    this.#type = type;
  }

  add({ column }: ReducerInput, from: number, to: number): void {
    const { valid } = column;
    if (column.type === 'float') {
      const { values } = column;
      let sum = this.float;
      let { count } = this;
      for (let i = from; i < to; i++) {
        if (valid !== undefined && valid[i] !== 1) continue;
        sum += values[i]!;
        count++;
      }
      this.float = sum;
      this.count = count;
    } else if (column.type === 'integer' || column.type === 'unsigned') {
      const { values } = column;
      for (let i = from; i < to; i++) {
        if (valid !== undefined && valid[i] !== 1) continue;
        this.integer += values[i]!;
        this.count++;
      }
    }
  }

  /** In the type of the field: integers wrap. */
  get value(): number | bigint {
    if (this.#type === 'float') return this.float;
    return wrapInteger(this.#type, this.integer);
  }

  get mean(): number {
    return (this.#type === 'float' ? this.float : Number(this.integer)) / this.count;
  }

  reset(): void {
    this.count = 0;
    this.float = 0;
    this.integer = 0n;
  }
}

/** sum and mean. */
export class SumAccumulator implements Accumulator {
  readonly #sum: RunningSum;
  readonly #result: 'value' | 'mean';

  constructor(type: FieldType, result: 'value' | 'mean') {
    this.#sum = new RunningSum(type);
    this.#result = result;
  }

  add(input: ReducerInput, from: number, to: number): void {
    this.#sum.add(input, from, to);
  }

  emit(stamp: bigint | undefined, out: PointWriter): undefined {
    if (this.#sum.count > 0) out.append(stamp ?? EPOCH, this.#sum[this.#result]);
    this.#sum.reset();
  }
}

export class SpreadAccumulator implements Accumulator {
  readonly #type: FieldType;
  #min: number | bigint | undefined;
  #max: number | bigint | undefined;

  constructor(type: FieldType) {
    this.#type = type;
  }

  add({ column }: ReducerInput, from: number, to: number): void {
    if (column.type === 'string' || column.type === 'boolean') return;
    const { values, valid } = column;
    for (let i = from; i < to; i++) {
      if (valid !== undefined && valid[i] !== 1) continue;
      const value = values[i]!;
      if (this.#min === undefined || value < this.#min) this.#min = value;
      if (this.#max === undefined || value > this.#max) this.#max = value;
    }
  }

  emit(stamp: bigint | undefined, out: PointWriter): undefined {
    const min = this.#min;
    const max = this.#max;
    this.#min = undefined;
    this.#max = undefined;
    if (min === undefined || max === undefined) return;
    if (typeof min === 'bigint' && typeof max === 'bigint') {
      out.append(stamp ?? EPOCH, wrapInteger(this.#type, max - min));
    } else {
      out.append(stamp ?? EPOCH, Number(max) - Number(min));
    }
  }
}
