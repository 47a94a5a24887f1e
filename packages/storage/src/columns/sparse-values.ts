// Values of rows that have few of very many fields: a list in the order of the rows, in which the
// values of each field are linked, newest first. Columns would need a place for each field in every
// row: a request of ten thousand rows, each with a field of its own, would take a gigabyte.
//
// Append-only like the block of rows that it belongs to: a reader ignores values of later rows.
import { assert, TextBuilder } from '@tidemark/core';
import type { FieldType, Texts } from '@tidemark/core';
import type { StagedValues } from '@tidemark/kernels';

import type { BlockColumn } from './row-block.ts';

type SparseField = StagedValues['fields'][number];

/** Memory of a value, of the end of a row, and of a field with its entry in the map. */
const VALUE_BYTES = 20;
const ROW_BYTES = 4;
const FIELD_BYTES = 80;
const INITIAL_LENGTH = 64;

export class SparseValues {
  readonly fields: readonly SparseField[] = [];
  readonly #texts = new TextBuilder(0, 0);
  readonly #numbers = new Map<string, number>();
  /** By the number of a field: its newest value, plus one, and how many it has. */
  newest = new Uint32Array(INITIAL_LENGTH);
  counts = new Uint32Array(INITIAL_LENGTH);
  #fieldOf = new Uint32Array(INITIAL_LENGTH);
  /** The row of each value. */
  rowOf = new Uint32Array(INITIAL_LENGTH);
  /** The previous value of the same field, plus one; 0 for none. */
  before = new Uint32Array(INITIAL_LENGTH);
  /** Two words per value. */
  words = new Uint32Array(2 * INITIAL_LENGTH);
  #ends = new Uint32Array(INITIAL_LENGTH);
  #rows = 0;
  #count = 0;

  /** Number of values. */
  get count(): number {
    return this.#count;
  }

  get memoryBytes(): number {
    const listed = this.#count * VALUE_BYTES + this.#rows * ROW_BYTES;
    return listed + this.fields.length * FIELD_BYTES + this.#texts.sizeBytes;
  }

  /** The words of strings are codes of these. */
  get texts(): Texts {
    return this.#texts.texts;
  }

  get valuesPerRow(): number {
    return this.#count / this.#rows;
  }

  typeOf(name: string): FieldType | undefined {
    return this.fields[this.#numbers.get(name) ?? -1]?.type;
  }

  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /** The value of a field in a row; -1 when there is none. */
  find(row: number, number: number): number {
    const end = this.#ends[row]!;
    for (let at = this.#startOf(row); at < end; at++) if (this.#fieldOf[at] === number) return at;
    return -1;
  }

  /** The number of values of the named fields in each row. */
  countsPerRow(names: readonly string[]): Uint32Array {
    const counts = new Uint32Array(this.#rows);
    for (const name of names) {
      const number = this.#numbers.get(name);
      if (number === undefined) continue;
      for (let at = this.newest[number]!; at > 0; at = this.before[at - 1]!) {
        counts[this.rowOf[at - 1]!]!++;
      }
    }
    return counts;
  }

  append({ fields, fieldOf, words, ends, texts }: StagedValues): void {
    const first = this.#count;
    const numbers = fields.map((field) => this.#addField(field));
    const count = ends.at(-1) ?? 0;
    this.#reserve(first + count, this.#rows + ends.length);
    const { rowOf, before, newest, counts } = this;
    let at = 0;
    for (const end of ends) {
      for (; at < end; at++) {
        const number = numbers[fieldOf[at]!]!;
        rowOf[first + at] = this.#rows;
        this.#fieldOf[first + at] = number;
        before[first + at] = newest[number]!;
        newest[number] = first + at + 1;
        counts[number]!++;
      }
      this.#ends[this.#rows++] = first + end;
    }
    this.words.set(words.subarray(0, 2 * count), 2 * first);
    this.#count = first + count;
    const firstText = this.#texts.addAll(texts);
    if (firstText === 0) return;
    for (at = 0; at < count; at++) {
      if (fields[fieldOf[at]!]!.type === 'string') this.words[2 * (first + at)]! += firstText;
    }
  }

  /** The values of the given rows, in their order; by default of all. Views where possible. */
  rows(some?: ArrayLike<number>): StagedValues {
    const { fields, texts } = this;
    if (some === undefined) {
      return {
        fields,
        fieldOf: this.#fieldOf.subarray(0, this.#count),
        words: this.words.subarray(0, 2 * this.#count),
        ends: this.#ends.subarray(0, this.#rows),
        texts,
      };
    }
    const ends = new Uint32Array(some.length);
    let count = 0;
    for (let i = 0; i < some.length; i++) {
      count += this.#ends[some[i]!]! - this.#startOf(some[i]!);
      ends[i] = count;
    }
    const fieldOf = new Uint32Array(count);
    const words = new Uint32Array(2 * count);
    const used = new TextBuilder();
    const codes = new Map<number, number>();
    const kept: SparseField[] = [];
    const indexes = new Map<number, number>();
    let to = 0;
    for (let i = 0; i < some.length; i++) {
      const end = this.#ends[some[i]!]!;
      for (let at = this.#startOf(some[i]!); at < end; at++, to++) {
        const number = this.#fieldOf[at]!;
        const field = fields[number]!;
        let index = indexes.get(number);
        if (index === undefined) indexes.set(number, (index = kept.push(field) - 1));
        fieldOf[to] = index;
        words[2 * to] = this.words[2 * at]!;
        words[2 * to + 1] = this.words[2 * at + 1]!;
        if (field.type === 'string') {
          const from = words[2 * to]!;
          let code = codes.get(from);
          if (code === undefined) codes.set(from, (code = used.addFrom(texts, from)));
          words[2 * to] = code;
        }
      }
    }
    return { fields: kept, fieldOf, words, ends, texts: used.texts };
  }

  #startOf(row: number): number {
    return row === 0 ? 0 : this.#ends[row - 1]!;
  }

  #addField({ name, type }: SparseField): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) {
      assert(this.fields[known]?.type === type, 'a field has one type within a block');
      return known;
    }
    const number = (this.fields as SparseField[]).push({ name, type }) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  /** Makes room for so many values and rows, and for all fields. */
  #reserve(values: number, rows: number): void {
    this.newest = withRoom(this.newest, this.fields.length);
    this.counts = withRoom(this.counts, this.fields.length);
    this.#fieldOf = withRoom(this.#fieldOf, values);
    this.rowOf = withRoom(this.rowOf, values);
    this.before = withRoom(this.before, values);
    this.words = withRoom(this.words, 2 * values);
    this.#ends = withRoom(this.#ends, rows);
  }
}

/** The array, or a copy of twice the length where it is too short. */
function withRoom(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const larger = new Uint32Array(Math.max(length, 2 * array.length));
  larger.set(array);
  return larger;
}

/** The values of columns row by row. */
export function sparseRowsOf(columns: readonly BlockColumn[], rows: number): StagedValues {
  const starts = new Uint32Array(rows);
  for (const { valid } of columns) {
    for (let row = 0; row < rows; row++) starts[row]! += valid === undefined ? 1 : valid[row]!;
  }
  const ends = new Uint32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    const start = count;
    count += starts[row]!;
    starts[row] = start;
    ends[row] = count;
  }
  const fieldOf = new Uint32Array(count);
  const words = new Uint32Array(2 * count);
  const all = new TextBuilder(0, 0);
  columns.forEach(({ values, valid, texts }, index) => {
    const isWide = values.BYTES_PER_ELEMENT === 8;
    const from = isWide
      ? new Uint32Array(values.buffer, values.byteOffset, 2 * rows)
      : (values as Uint8Array | Uint32Array);
    const first = texts === undefined ? 0 : all.addAll(texts.texts);
    for (let row = 0; row < rows; row++) {
      if (valid?.[row] === 0) continue;
      const at = starts[row]!++;
      fieldOf[at] = index;
      if (isWide) {
        words[2 * at] = from[2 * row]!;
        words[2 * at + 1] = from[2 * row + 1]!;
      } else words[2 * at] = from[row]! + first;
    }
  });
  return { fields: columns, fieldOf, words, ends, texts: all.texts };
}
