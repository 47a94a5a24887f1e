// Columns of one field set while a write is read: they grow by doubling and are copied out once at
// the end.
import { assert, fieldTypeOf, TextBuilder } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import type { RowFieldKind, RowScanner } from '@tidemark/kernels';
import type { LineFieldValue } from '@tidemark/line-protocol';
import type { RowBlock } from '../point-batch.ts';
import { isUtf8 } from './text.ts';

export type LineFields = readonly (readonly [name: string, value: LineFieldValue])[];

/** Rows for which a new block has room. */
const FIRST_CAPACITY = 256;

type Growing =
  | { readonly kind: 'float'; values: Float64Array<ArrayBuffer> }
  | { readonly kind: 'integer'; values: BigInt64Array<ArrayBuffer> }
  | { readonly kind: 'boolean'; values: Uint8Array<ArrayBuffer> }
  | {
      readonly kind: 'string';
      values: Uint32Array<ArrayBuffer>;
      texts: TextBuilder;
    };

export class BlockColumns {
  /** Names with the `=` that follows, and kinds, for the scanner. */
  readonly fields: readonly { readonly name: Uint8Array; readonly kind: RowFieldKind }[];
  index = 0;
  readonly #names: readonly string[];
  readonly #columns: readonly Growing[];
  #capacity = FIRST_CAPACITY;
  #count = 0;

  constructor(names: readonly string[], kinds: readonly RowFieldKind[]) {
    this.fields = names.map((name, i) => ({
      name: new TextEncoder().encode(`${name}=`),
      kind: kinds[i] ?? 'float',
    }));
    this.#names = names;
    this.#columns = this.fields.map(({ kind }) => growing(kind));
  }

  get rowCount(): number {
    return this.#count;
  }

  /** Whether a line with these fields belongs to the block. */
  takes(fields: LineFields): boolean {
    if (fields.length !== this.#names.length) return false;
    for (let i = 0; i < fields.length; i++) {
      const [name, value] = fields[i]!;
      if (name !== this.#names[i] || this.fields[i]!.kind !== fieldTypeOf(value)) return false;
    }
    return true;
  }

  /** Whether the first field's name is at an offset. */
  mayFollow(body: Uint8Array, offset: number): boolean {
    const name = this.fields[0]?.name;
    if (name === undefined) return false;
    for (let i = 0; i < name.length; i++) if (body[offset + i] !== name[i]) return false;
    return true;
  }

  clear(): void {
    this.#count = 0;
    for (const column of this.#columns) {
      if (column.kind === 'string') column.texts = new TextBuilder(0, 0);
    }
  }

  /** Adds a row with these fields. */
  addRow(fields: LineFields): void {
    this.#reserve(this.#count + 1);
    for (let i = 0; i < fields.length; i++) this.#set(this.#columns[i]!, fields[i]![1]);
    this.#count++;
  }

  #set(column: Growing, value: LineFieldValue): void {
    if (column.kind === 'integer') {
      assert(typeof value === 'bigint', 'a block takes the kinds of its fields');
      column.values[this.#count] = value;
    } else if (column.kind === 'string') {
      column.values[this.#count] = column.texts.add(String(value));
    } else column.values[this.#count] = Number(value);
  }

  /**
   * Takes all rows of the scanner; false when a text is not UTF-8, then the block is unusable until
   * it is cleared.
   */
  append(scanner: RowScanner, body: Uint8Array): boolean {
    const { rowCount } = scanner;
    this.#reserve(this.#count + rowCount);
    for (const [field, column] of this.#columns.entries()) {
      switch (column.kind) {
        case 'float':
          column.values.set(scanner.floats(field), this.#count);
          break;
        case 'integer':
          column.values.set(scanner.integers(field), this.#count);
          break;
        case 'boolean': {
          const pairs = scanner.pairs(field);
          for (let i = 0; i < rowCount; i++) {
            column.values[this.#count + i] = pairs[i * 2] as number;
          }
          break;
        }
        case 'string': {
          const pairs = scanner.pairs(field);
          for (let i = 0; i < rowCount; i++) {
            const [start, end] = [pairs[i * 2] as number, pairs[i * 2 + 1] as number];
            if (!isUtf8(body, start, end)) return false;
            column.values[this.#count + i] = column.texts.addBytes(body.subarray(start, end));
          }
        }
      }
    }
    this.#count += rowCount;
    return true;
  }

  /** The columns of all rows; the block is empty again. */
  take(): RowBlock {
    const columns = this.#columns.map((column) => this.#column(column));
    this.clear();
    return { fieldNames: this.#names, columns };
  }

  #column(column: Growing): Column {
    const count = this.#count;
    switch (column.kind) {
      case 'float':
        return { type: 'float', values: column.values.slice(0, count), valid: undefined };
      case 'integer':
        return { type: 'integer', values: column.values.slice(0, count), valid: undefined };
      case 'boolean':
        return { type: 'boolean', values: column.values.slice(0, count), valid: undefined };
      case 'string': {
        const codes = column.values.slice(0, count);
        return { type: 'string', codes, texts: column.texts.texts, valid: undefined };
      }
    }
  }

  #reserve(count: number): void {
    if (count < this.#capacity) return;
    while (count >= this.#capacity) this.#capacity *= 2;
    for (const column of this.#columns) grow(column, this.#capacity);
  }
}

function growing(kind: RowFieldKind): Growing {
  switch (kind) {
    case 'float':
      return { kind, values: new Float64Array(FIRST_CAPACITY) };
    case 'integer':
      return { kind, values: new BigInt64Array(FIRST_CAPACITY) };
    case 'boolean':
      return { kind, values: new Uint8Array(FIRST_CAPACITY) };
    case 'string':
      return { kind, values: new Uint32Array(FIRST_CAPACITY), texts: new TextBuilder(0, 0) };
  }
}

function grow(column: Growing, capacity: number): void {
  switch (column.kind) {
    case 'float': {
      const larger = new Float64Array(capacity);
      larger.set(column.values);
      column.values = larger;
      break;
    }
    case 'integer': {
      const larger = new BigInt64Array(capacity);
      larger.set(column.values);
      column.values = larger;
      break;
    }
    case 'boolean': {
      const larger = new Uint8Array(capacity);
      larger.set(column.values);
      column.values = larger;
      break;
    }
    case 'string': {
      const larger = new Uint32Array(capacity);
      larger.set(column.values);
      column.values = larger;
    }
  }
}
