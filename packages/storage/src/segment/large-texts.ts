// A column of strings whose texts are too many to be decoded at once: rows are read in parts, each
// with only its own texts. Chunks are not written this large any more, but files with them exist.
// When parts of a compressed column are read out of order, unpacking starts from the beginning for
// each.
import type { Column } from '@tidemark/core';
import type { StringHead } from '@tidemark/kernels';
import { TextBuilder, utf8Text } from '@tidemark/core';

import { DecodeError } from '../columns/bytes.ts';
import { columnOf } from '../columns/run.ts';
import { TEXT_PART_BYTES } from '../columns/run-texts.ts';
import { noteTexts } from '../columns/thread-heap.ts';
import { Lz4Stream } from './lz4-stream.ts';

/** Texts of up to this size are decoded at once: a little more than chunks are written with. */
const DECODED_AT_ONCE_BYTES = 2 * TEXT_PART_BYTES;

/** Rows [from, to) of a chunk. */
export type RowPart = { readonly from: number; readonly to: number };

export type LargeTextsSource = {
  readonly head: StringHead;
  /** Which rows of the chunk have a value; `undefined` when all have. */
  readonly valid: Uint8Array | undefined;
  /** Reads bytes of the stored texts; fewer than requested at the end. */
  readonly read: (offset: number, length: number) => Uint8Array;
};

/** Whether a block with this head is too large to be decoded at once. */
export function isLarge({ offsets }: StringHead): boolean {
  return offsets.at(-1)! > DECODED_AT_ONCE_BYTES;
}

export class LargeTexts {
  readonly #source: LargeTextsSource;
  /** The code of each row; unspecified for nulls. */
  readonly #codes: Uint32Array;
  /** The texts being unpacked, and the number of bytes unpacked so far. */
  #stream: { readonly bytes: Lz4Stream; at: number } | undefined;

  /** Throws `DecodeError` when the number of values contradicts `valid`. */
  constructor(source: LargeTextsSource) {
    this.#source = source;
    const { head, valid } = source;
    if (valid === undefined) {
      this.#codes = head.codes;
      return;
    }
    this.#codes = new Uint32Array(valid.length);
    let at = 0;
    for (let row = 0; row < valid.length; row++) {
      if (valid[row] === 1) this.#codes[row] = head.codes[at++] ?? 0;
    }
    if (at !== head.codes.length) throw new DecodeError('validity bits');
  }

  /** Cuts rows into parts with texts of a limited size; one row may have more. */
  parts({ from, to }: RowPart): readonly RowPart[] {
    const { offsets } = this.#source.head;
    const partOf = new Uint32Array(offsets.length);
    const parts: RowPart[] = [];
    let start = from;
    let bytes = 0;
    for (let row = from; row < to; row++) {
      const code = this.#codes[row]!;
      if (!this.#hasValue(row) || partOf[code] === parts.length + 1) continue;
      const length = offsets[code + 1]! - offsets[code]!;
      if (bytes + length > TEXT_PART_BYTES && row > start) {
        parts.push({ from: start, to: row });
        start = row;
        bytes = 0;
      }
      partOf[code] = parts.length + 1;
      bytes += length;
    }
    parts.push({ from: start, to });
    return parts;
  }

  /** Rows of the column, with only their texts. Throws `DecodeError` for damaged bytes. */
  column({ from, to }: RowPart): Column {
    const { valid } = this.#source;
    const used = new Set<number>();
    for (let row = from; row < to; row++) if (this.#hasValue(row)) used.add(this.#codes[row]!);
    const codes = [...used].sort((a, b) => a - b);
    const own = new TextBuilder(codes.length);
    for (const code of codes) this.#addText(own, code);
    const { texts } = own;
    noteTexts(texts);
    const places = new Map(codes.map((code, place) => [code, place]));
    const values = this.#codes.subarray(from, to).map((code) => places.get(code) ?? 0);
    return columnOf('string', { values, valid: valid?.subarray(from, to), texts });
  }

  #hasValue(row: number): boolean {
    const { valid } = this.#source;
    return valid === undefined || valid[row] === 1;
  }

  #addText(own: TextBuilder, code: number): void {
    const { head, read } = this.#source;
    const start = head.offsets[code]!;
    const length = head.offsets[code + 1]! - start;
    if (!head.isPacked) {
      const bytes = read(start, length);
      if (bytes.length < length) throw new DecodeError('texts are cut off');
      own.add(utf8Text(bytes));
      return;
    }
    if (this.#stream === undefined || this.#stream.at > start) {
      this.#stream = { bytes: new Lz4Stream(read), at: 0 };
    }
    const stream = this.#stream;
    stream.bytes.skip(start - stream.at);
    stream.at = start + length;
    own.add(utf8Text(stream.bytes.next(length)));
  }
}
