// Growing lists of numbers of one field, for reducers that need all values of a window at once.
import type { Column } from '@tidemark/core';

import { newValues } from '../batch/column-values.ts';

/** Windows mostly have fewer values; a list of this size keeps its memory for the next one. */
const FIRST_CAPACITY = 256;

type Numbers = Float64Array | BigInt64Array | BigUint64Array;

function isOfType(numbers: Numbers, type: Column['type']): boolean {
  if (numbers instanceof BigInt64Array) return type === 'integer';
  if (numbers instanceof BigUint64Array) return type === 'unsigned';
  return type === 'float';
}

/**
 * Values in the order of arrival. The memory of the list counts as the query's while it has values.
 */
export class ValueList {
  #values: Numbers | undefined;
  /** The array of a cleared list: creating one costs more than the values of a short window. */
  #spare: Numbers | undefined;
  #length = 0;
  readonly #hold: (bytes: number) => void;

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  get length(): number {
    return this.#length;
  }

  /** Appends rows `[from, to)`; nulls and NaN are left out. */
  append(column: Column, from: number, to: number): void {
    if (column.type === 'string' || column.type === 'boolean') return;
    this.#reserve(column.type, to - from);
    const target = this.#values;
    if (target === undefined) return;
    const { values, valid } = column;
    if (valid === undefined) {
      // The types of both arrays follow from the column's type; the compiler cannot relate them.
      (target as Float64Array).set(values.subarray(from, to) as Float64Array, this.#length);
      this.#length += to - from;
      return;
    }
    for (let i = from; i < to; i++) {
      if (valid[i] === 1) (target as Float64Array)[this.#length++] = values[i] as number;
    }
  }

  /** The values, not copied: a caller that changes their order must be their last reader. */
  values(): Numbers {
    return (this.#values ?? new Float64Array(0)).subarray(0, this.#length);
  }

  clear(): void {
    const values = this.#values;
    if (values !== undefined) {
      this.#hold(-values.byteLength);
      if (values.length === FIRST_CAPACITY) this.#spare = values;
    }
    this.#values = undefined;
    this.#length = 0;
  }

  #reserve(type: Column['type'], count: number): void {
    const capacity = this.#values?.length ?? 0;
    const needed = this.#length + count;
    if (needed <= capacity) return;
    const grown = this.#grown(type, Math.max(needed, capacity * 2, FIRST_CAPACITY));
    this.#hold(grown.byteLength - (this.#values?.byteLength ?? 0));
    if (this.#values !== undefined) (grown as Float64Array).set(this.#values as Float64Array);
    this.#values = grown;
  }

  #grown(type: Column['type'], capacity: number): Numbers {
    const spare = this.#spare;
    this.#spare = undefined;
    const fits = spare !== undefined && capacity === FIRST_CAPACITY && isOfType(spare, type);
    return fits ? spare : (newValues(type, capacity) as Numbers);
  }
}
