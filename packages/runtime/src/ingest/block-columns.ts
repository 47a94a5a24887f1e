// Columns of one field set while a write is read: grow by doubling, are copied out once at the end.
import type { Column } from '@tidemark/core';
import type { RowFieldKind, RowScanner } from '@tidemark/kernels';
import type { RowBlock } from '../point-batch.ts';

/** Rows for which a new block has room. */
const FIRST_CAPACITY = 256;

type Growing =
  | { readonly kind: 'float'; values: Float64Array<ArrayBuffer> }
  | { readonly kind: 'integer'; values: BigInt64Array<ArrayBuffer> }
  | { readonly kind: 'boolean'; values: Uint8Array<ArrayBuffer> }
  | {
      readonly kind: 'string';
      values: Uint32Array<ArrayBuffer>;
      readonly dictionary: Map<string, number>;
    };

export class BlockColumns {
  /** Names with the `=` that follows, and kinds, as the scanner wants them. */
  readonly fields: readonly { readonly name: Uint8Array; readonly kind: RowFieldKind }[];
  index = 0;
  readonly #texts: readonly string[];
  readonly #columns: readonly Growing[];
  #capacity = FIRST_CAPACITY;
  #count = 0;

  constructor(
    names: readonly Uint8Array[],
    kinds: readonly RowFieldKind[],
    texts: readonly string[],
  ) {
    this.fields = names.map((name, i) => ({ name, kind: kinds[i] ?? 'float' }));
    this.#texts = texts;
    this.#columns = this.fields.map(({ kind }) => growing(kind));
  }

  get rowCount(): number {
    return this.#count;
  }

  has(names: readonly Uint8Array[], kinds: readonly RowFieldKind[]): boolean {
    if (names.length !== this.fields.length) return false;
    return this.fields.every(({ name, kind }, i) => kinds[i] === kind && isEqual(name, names[i]));
  }

  /** Whether the first field's name stands at an offset. */
  mayFollow(body: Uint8Array, offset: number): boolean {
    const name = this.fields[0]?.name;
    if (name === undefined) return false;
    for (let i = 0; i < name.length; i++) if (body[offset + i] !== name[i]) return false;
    return true;
  }

  clear(): void {
    this.#count = 0;
    for (const column of this.#columns) if (column.kind === 'string') column.dictionary.clear();
  }

  /**
   * Sets a field of the row that `endRow` completes; a row that is not completed is overwritten.
   */
  stage(field: number, number: number, text: string): void {
    const column = this.#columns[field];
    if (column?.kind === 'integer') column.values[this.#count] = BigInt(number);
    else if (column?.kind === 'string')
      column.values[this.#count] = codeOf(column.dictionary, text);
    else if (column !== undefined) column.values[this.#count] = number;
  }

  /** Completes the row and returns its index. */
  endRow(): number {
    this.#reserve(this.#count + 1);
    return this.#count++;
  }

  /**
   * Takes all rows of the scanner; false when a text is not UTF-8, then the block is unusable until
   * it is cleared.
   */
  append(scanner: RowScanner, textAt: (start: number, end: number) => string | undefined): boolean {
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
            const text = textAt(pairs[i * 2] as number, pairs[i * 2 + 1] as number);
            if (text === undefined) return false;
            column.values[this.#count + i] = codeOf(column.dictionary, text);
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
    return { fieldNames: this.#texts, columns };
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
        const dictionary = [...column.dictionary.keys()];
        return {
          type: 'string',
          codes: column.values.slice(0, count),
          dictionary,
          valid: undefined,
        };
      }
    }
  }

  /** Room for one row more than that, so that a row can be staged at any time. */
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
      return { kind, values: new Uint32Array(FIRST_CAPACITY), dictionary: new Map() };
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

function codeOf(dictionary: Map<string, number>, text: string): number {
  let code = dictionary.get(text);
  if (code === undefined) dictionary.set(text, (code = dictionary.size));
  return code;
}

function isEqual(a: Uint8Array, b: Uint8Array | undefined): boolean {
  if (b === undefined || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
