// Shared by transformations: reading columns as plain numbers and collecting results. 64-bit
// integers are read through 32-bit words of the same buffer (docs/adr/0001-int64.md): word 2i is
// the low half of element i, word 2i+1 the high half.
import { assert } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';

import { columnOf, newValues } from '../../batch/column-values.ts';
import type { PointBatch } from '../transformation.ts';

const TWO_32 = 4294967296;

/** The words of a column of 64-bit integers. A view: it shares the buffer. */
export function wordsOf(values: BigInt64Array | BigUint64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

/**
 * A numeric column as floats. Integers beyond 2^53 are rounded once, to the nearest float: both
 * halves are exact and their sum is rounded by the addition.
 */
export function floatsOf(column: Column): Float64Array {
  switch (column.type) {
    case 'float':
      return column.values;
    case 'integer':
    case 'unsigned': {
      const words = wordsOf(column.values);
      const floats = new Float64Array(column.values.length);
      const isSigned = column.type === 'integer';
      for (let i = 0; i < floats.length; i++) {
        const low = (words[2 * i] ?? 0) >>> 0;
        const high = words[2 * i + 1] ?? 0;
        floats[i] = (isSigned ? high : high >>> 0) * TWO_32 + low;
      }
      return floats;
    }
    default:
      assert(false, 'the column is numeric');
      return new Float64Array();
  }
}

/** `a - b` of two int64 given as words, as a float: exact up to 2^53, else rounded once. */
export function differenceOfWords(
  lowA: number,
  highA: number,
  lowB: number,
  highB: number,
): number {
  return (highA - highB) * TWO_32 + ((lowA >>> 0) - (lowB >>> 0));
}

/** A batch without points. */
export function noPoints(type: FieldType): PointBatch {
  return { times: new BigInt64Array(), values: columnOf(type, newValues(type, 0), NOTHING) };
}

const NOTHING = { valid: undefined };

/** Collects floats, each at the time of a row of the input. `capacity` is their maximum number. */
export class FloatPoints {
  readonly #times: BigInt64Array;
  readonly #timeWords: Int32Array;
  readonly #values: Float64Array;
  #count = 0;

  constructor(capacity: number) {
    this.#times = new BigInt64Array(capacity);
    this.#timeWords = wordsOf(this.#times);
    this.#values = new Float64Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  add(timeWords: Int32Array, row: number, value: number): void {
    const at = this.#count++;
    this.#timeWords[2 * at] = timeWords[2 * row] ?? 0;
    this.#timeWords[2 * at + 1] = timeWords[2 * row + 1] ?? 0;
    this.#values[at] = value;
  }

  addAt(time: bigint, value: number): void {
    const at = this.#count++;
    this.#times[at] = time;
    this.#values[at] = value;
  }

  batch(): PointBatch {
    const values = firstOf(this.#values, this.#count);
    return {
      times: firstOf(this.#times, this.#count),
      values: { type: 'float', values, valid: undefined },
    };
  }
}

/** Collects 64-bit integers, given as words, each at the time of a row of the input. */
export class IntegerPoints {
  readonly #type: 'integer' | 'unsigned';
  readonly #times: BigInt64Array;
  readonly #timeWords: Int32Array;
  readonly #values: BigInt64Array;
  readonly #valueWords: Int32Array;
  #count = 0;

  constructor(type: 'integer' | 'unsigned', capacity: number) {
    this.#type = type;
    this.#times = new BigInt64Array(capacity);
    this.#timeWords = wordsOf(this.#times);
    this.#values = new BigInt64Array(capacity);
    this.#valueWords = wordsOf(this.#values);
  }

  add(timeWords: Int32Array, row: number, low: number, high: number): void {
    const at = this.#count++;
    this.#timeWords[2 * at] = timeWords[2 * row] ?? 0;
    this.#timeWords[2 * at + 1] = timeWords[2 * row + 1] ?? 0;
    this.#valueWords[2 * at] = low;
    this.#valueWords[2 * at + 1] = high;
  }

  batch(): PointBatch {
    const times = firstOf(this.#times, this.#count);
    const values = firstOf(this.#values, this.#count);
    if (this.#type === 'integer') {
      return { times, values: { type: 'integer', values, valid: undefined } };
    }
    const unsigned = new BigUint64Array(values.buffer, values.byteOffset, values.length);
    return { times, values: { type: 'unsigned', values: unsigned, valid: undefined } };
  }
}

/** The first `count` elements, copied unless that is all of them. */
function firstOf<A extends BigInt64Array | Float64Array>(values: A, count: number): A {
  return count === values.length ? values : (values.slice(0, count) as A);
}
