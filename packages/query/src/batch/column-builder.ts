// Growing typed columns, which windows, fills and merges write their rows to.
import type { Column, ColumnValues, FieldType, FieldValue } from '@tidemark/core';
import { columnValue, isValid, TextBuilder } from '@tidemark/core';

import { columnOf, newValues } from './column-values.ts';

const FIRST_CAPACITY = 64;

const NO_BYTES = new Uint8Array(0);
const NO_TIMES = new BigInt64Array(0);

/** A column under construction. `take` hands the rows over and starts a new, empty column. */
export class ColumnBuilder {
  readonly type: FieldType;
  #values: ColumnValues;
  #valid: Uint8Array;
  #length = 0;
  #hasNulls = false;
  #texts = new TextBuilder(0, 0);

  constructor(type: FieldType) {
    this.type = type;
    // Most builders of a query with many groups and fields are never used.
    this.#values = newValues(type, 0);
    this.#valid = NO_BYTES;
  }

  get length(): number {
    return this.#length;
  }

  /** Appends a value of the column's type, or null. */
  append(value: FieldValue | null): void {
    if (this.#length === this.#valid.length) this.#grow();
    const row = this.#length++;
    if (value === null) {
      this.#hasNulls = true;
      this.#valid[row] = 0;
      return;
    }
    this.#valid[row] = 1;
    switch (this.type) {
      case 'float':
        this.#values[row] = Number(value);
        break;
      case 'integer':
      case 'unsigned':
        (this.#values as BigInt64Array)[row] = value as bigint;
        break;
      case 'boolean':
        this.#values[row] = value === true ? 1 : 0;
        break;
      case 'string':
        this.#values[row] = this.#texts.add(value as string);
        break;
    }
  }

  /** Appends a row of a column of the same type. */
  appendRow(column: Column, row: number): void {
    if (column.type !== 'string' || !isValid(column, row)) {
      this.append(columnValue(column, row));
      return;
    }
    if (this.#length === this.#valid.length) this.#grow();
    this.#valid[this.#length] = 1;
    this.#values[this.#length++] = this.#texts.addFrom(column.texts, column.codes[row]!);
  }

  take(): Column {
    const length = this.#length;
    const values = this.#values.slice(0, length);
    const valid = this.#hasNulls ? this.#valid.slice(0, length) : undefined;
    const { texts } = this.#texts;
    this.#texts = new TextBuilder(0, 0);
    this.#length = 0;
    this.#hasNulls = false;
    return columnOf(this.type, values, { valid, texts });
  }

  #grow(): void {
    const capacity = Math.max(FIRST_CAPACITY, this.#valid.length * 2);
    const values = newValues(this.type, capacity);
    (values as Float64Array).set(this.#values as Float64Array);
    const valid = new Uint8Array(capacity);
    valid.set(this.#valid);
    this.#values = values;
    this.#valid = valid;
  }
}

/** A growing column of times. */
export class TimeBuilder {
  #values = NO_TIMES;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(time: bigint): void {
    if (this.#length === this.#values.length) {
      const values = new BigInt64Array(Math.max(FIRST_CAPACITY, this.#length * 2));
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.#length++] = time;
  }

  take(): BigInt64Array {
    const values = this.#values.slice(0, this.#length);
    this.#length = 0;
    return values;
  }
}
