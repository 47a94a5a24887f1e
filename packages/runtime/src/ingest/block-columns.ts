// Columns of one field set while a write is read: grow by doubling, are copied out once at the end.
import type { Column } from '@tidemark/core';
import type { RowBlock } from '../point-batch.ts';

export type FieldKind = 'float' | 'integer' | 'boolean' | 'string';

/** Rows for which a new block has room. */
const FIRST_CAPACITY = 256;

const TWO_32 = 4294967296;

export class BlockColumns {
  /** With the `=` that follows. */
  readonly names: readonly Uint8Array[];
  readonly kinds: readonly FieldKind[];
  index = 0;
  readonly #texts: readonly string[];
  #capacity = FIRST_CAPACITY;
  #count = 0;
  /** Floats, integers (exact doubles) and booleans. */
  #numbers: Float64Array[];
  #codes: Uint32Array[];
  readonly #dictionaries: (Map<string, number> | undefined)[];

  constructor(names: readonly Uint8Array[], kinds: readonly FieldKind[], texts: readonly string[]) {
    this.names = names;
    this.kinds = kinds;
    this.#texts = texts;
    this.#numbers = kinds.map((kind) => new Float64Array(kind === 'string' ? 0 : FIRST_CAPACITY));
    this.#codes = kinds.map((kind) => new Uint32Array(kind === 'string' ? FIRST_CAPACITY : 0));
    this.#dictionaries = kinds.map((kind) => (kind === 'string' ? new Map() : undefined));
  }

  has(names: readonly Uint8Array[], kinds: readonly FieldKind[]): boolean {
    if (names.length !== this.names.length) return false;
    return names.every((name, i) => kinds[i] === this.kinds[i] && isEqual(name, this.names[i]));
  }

  clear(): void {
    this.#count = 0;
    for (const dictionary of this.#dictionaries) dictionary?.clear();
  }

  /** Sets a field of the row that `endRow` completes; a row that is not completed is overwritten. */
  stage(field: number, number: number, text: string): void {
    const dictionary = this.#dictionaries[field];
    if (dictionary === undefined) {
      (this.#numbers[field] as Float64Array)[this.#count] = number;
      return;
    }
    let code = dictionary.get(text);
    if (code === undefined) dictionary.set(text, (code = dictionary.size));
    (this.#codes[field] as Uint32Array)[this.#count] = code;
  }

  /** Completes the row and returns its index. */
  endRow(): number {
    const row = this.#count++;
    if (this.#count === this.#capacity) this.#grow();
    return row;
  }

  /** The columns of all rows; the block is empty again. */
  take(): RowBlock {
    const columns = this.kinds.map((kind, field) => this.#column(kind, field));
    this.clear();
    return { fieldNames: this.#texts, columns };
  }

  #column(kind: FieldKind, field: number): Column {
    const count = this.#count;
    const numbers = this.#numbers[field] as Float64Array;
    switch (kind) {
      case 'float':
        return { type: 'float', values: numbers.slice(0, count), valid: undefined };
      case 'boolean':
        return {
          type: 'boolean',
          values: Uint8Array.from(numbers.subarray(0, count)),
          valid: undefined,
        };
      case 'string': {
        const codes = (this.#codes[field] as Uint32Array).slice(0, count);
        const dictionary = [...(this.#dictionaries[field]?.keys() ?? [])];
        return { type: 'string', codes, dictionary, valid: undefined };
      }
      case 'integer': {
        const halves = new Int32Array(count * 2);
        for (let i = 0; i < count; i++) {
          const value = numbers[i] as number;
          const high = Math.floor(value / TWO_32);
          halves[i * 2] = value - high * TWO_32;
          halves[i * 2 + 1] = high;
        }
        return { type: 'integer', values: new BigInt64Array(halves.buffer), valid: undefined };
      }
    }
  }

  #grow(): void {
    this.#capacity *= 2;
    this.#numbers = this.#numbers.map((column) => {
      if (column.length === 0) return column;
      const larger = new Float64Array(this.#capacity);
      larger.set(column);
      return larger;
    });
    this.#codes = this.#codes.map((column) => {
      if (column.length === 0) return column;
      const larger = new Uint32Array(this.#capacity);
      larger.set(column);
      return larger;
    });
  }
}

function isEqual(a: Uint8Array, b: Uint8Array | undefined): boolean {
  if (b === undefined || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
