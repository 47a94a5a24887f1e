// Lists of texts as UTF-8 bytes: how columns of strings hold their texts. A string of the language
// is made only of a text that is asked for by `textAt`.
import { assert } from './assert.ts';
import { utf8Text } from './utf8.ts';

/**
 * Text `i` is the bytes [offsets[i], offsets[i + 1]). Both arrays may be views of larger ones, and
 * are not changed any more. The bytes are well-formed UTF-8.
 */
export type Texts = { readonly bytes: Uint8Array; readonly offsets: Uint32Array };

export const NO_TEXTS: Texts = { bytes: new Uint8Array(0), offsets: new Uint32Array(1) };

/** Up to this size, texts of ASCII are made of their codes, several times faster than decoded. */
const SHORT_BYTES = 512;
const FIRST_TEXTS = 16;
const FIRST_BYTES = 256;

/** Number of texts. */
export function textCount({ offsets }: Texts): number {
  return offsets.length - 1;
}

/** Bytes of a text. */
export function textLength({ offsets }: Texts, index: number): number {
  return offsets[index + 1]! - offsets[index]!;
}

/** A view of the bytes of a text. */
export function textBytesAt({ bytes, offsets }: Texts, index: number): Uint8Array {
  return bytes.subarray(offsets[index], offsets[index + 1]);
}

/** A copy of the bytes of a text. */
export function copyTextAt(texts: Texts, index: number): Uint8Array {
  const copy = new Uint8Array(textLength(texts, index));
  copyTextTo(copy, 0, texts, index);
  return copy;
}

/** A text as a string; empty for an index that is none. */
export function textAt({ bytes, offsets }: Texts, index: number): string {
  const start = offsets[index];
  const end = offsets[index + 1];
  if (start === undefined || end === undefined) return '';
  if (end - start <= SHORT_BYTES) {
    let at = start;
    while (at < end && bytes[at]! < 0x80) at++;
    // Spreading would walk an iterator; this call reads the array.
    if (at === end) return Reflect.apply(String.fromCharCode, null, bytes.subarray(start, end));
  }
  return utf8Text(bytes.subarray(start, end));
}

/** All texts as strings. For the edges of the system and tests. */
export function stringsOf(texts: Texts): string[] {
  return Array.from({ length: textCount(texts) }, (_, i) => textAt(texts, i));
}

/** Texts of strings. Lone surrogates become U+FFFD. */
export function textsOf(strings: readonly string[]): Texts {
  if (strings.length === 0) return NO_TEXTS;
  const builder = new TextBuilder(strings.length);
  for (const text of strings) builder.add(text);
  return builder.texts;
}

/** The same texts in arrays of their own. */
export function copyTexts({ bytes, offsets }: Texts): Texts {
  return { bytes: bytes.slice(), offsets: offsets.slice() };
}

/** Whether two texts are the same. */
export function areSameTexts(a: Texts, i: number, b: Texts, j: number): boolean {
  const length = textLength(a, i);
  return length === textLength(b, j) && compareTexts(a, i, b, j) === 0;
}

/** The order of two texts by their bytes: negative, zero or positive. */
export function compareTexts(a: Texts, i: number, b: Texts, j: number): number {
  const [left, right] = [a.bytes, b.bytes];
  const [start, other] = [a.offsets[i]!, b.offsets[j]!];
  const [length, otherLength] = [textLength(a, i), textLength(b, j)];
  const common = Math.min(length, otherLength);
  for (let at = 0; at < common; at++) {
    const order = left[start + at]! - right[other + at]!;
    if (order !== 0) return order;
  }
  return length - otherLength;
}

/** The texts of several lists one after another. */
export function concatTexts(lists: readonly Texts[]): Texts {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const builder = new TextBuilder(
    lists.reduce((sum, texts) => sum + textCount(texts), 0),
    lists.reduce((sum, texts) => sum + sizeOf(texts), 0),
  );
  for (const texts of lists) builder.addAll(texts);
  return builder.texts;
}

/** Bytes of all texts of a list. */
function sizeOf({ offsets }: Texts): number {
  return offsets.at(-1)! - offsets[0]!;
}

/** Texts that are added one by one. */
export class TextBuilder {
  #bytes: Uint8Array<ArrayBufferLike>;
  #offsets: Uint32Array<ArrayBufferLike>;
  #count = 0;

  /** With room for a number of texts and bytes, which grows. */
  constructor(count = FIRST_TEXTS, sizeBytes = FIRST_BYTES) {
    this.#bytes = new Uint8Array(sizeBytes);
    this.#offsets = new Uint32Array(count + 1);
  }

  /** A builder that begins with some texts, which it does not copy until more are added. */
  static of(texts: Texts): TextBuilder {
    const builder = new TextBuilder(0, 0);
    if (texts.offsets[0] !== 0) {
      builder.addAll(texts);
      return builder;
    }
    builder.#bytes = texts.bytes.subarray(0, texts.offsets.at(-1));
    builder.#offsets = texts.offsets;
    builder.#count = textCount(texts);
    return builder;
  }

  /** Number of texts so far. */
  get count(): number {
    return this.#count;
  }

  /** Memory of the texts so far. */
  get sizeBytes(): number {
    return this.#end + 4 * this.#count;
  }

  get #end(): number {
    return this.#offsets[this.#count]!;
  }

  /** The texts so far: views, which stay as they are when more are added. */
  get texts(): Texts {
    const [end, count] = [this.#end, this.#count + 1];
    // Arrays that are full are replaced when more are added.
    return {
      bytes: end === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, end),
      offsets: count === this.#offsets.length ? this.#offsets : this.#offsets.subarray(0, count),
    };
  }

  /** Adds a string; lone surrogates become U+FFFD. Returns its index. */
  add(text: string): number {
    const start = this.#end;
    // A UTF-16 unit takes at most three bytes of UTF-8.
    this.#reserve(1, 3 * text.length);
    const { written } = ENCODER.encodeInto(text, this.#bytes.subarray(start));
    return this.#push(start + written);
  }

  /** Adds bytes of well-formed UTF-8. Returns the index of the text. */
  addBytes(bytes: Uint8Array): number {
    const start = this.#end;
    this.#reserve(1, bytes.length);
    this.#bytes.set(bytes, start);
    return this.#push(start + bytes.length);
  }

  /** Adds a text of a list. Returns its index here. */
  addFrom(texts: Texts, index: number): number {
    const from = texts.offsets[index]!;
    const end = texts.offsets[index + 1]!;
    const start = this.#end;
    this.#reserve(1, end - from);
    copyTextTo(this.#bytes, start, texts, index);
    return this.#push(start + end - from);
  }

  /** Adds all texts of a list. Returns the index of the first. */
  addAll({ bytes, offsets }: Texts): number {
    const first = this.#count;
    const added = offsets.length - 1;
    const from = offsets[0]!;
    const start = this.#end;
    this.#reserve(added, offsets[added]! - from);
    this.#bytes.set(bytes.subarray(from, offsets[added]), start);
    const target = this.#offsets;
    for (let i = 1; i <= added; i++) target[first + i] = offsets[i]! - from + start;
    this.#count = first + added;
    return first;
  }

  #push(end: number): number {
    this.#offsets[this.#count + 1] = end;
    return this.#count++;
  }

  /** Replaces arrays that are too short: views of them stay as they are. */
  #reserve(texts: number, sizeBytes: number): void {
    const count = this.#count + texts;
    const end = this.#end + sizeBytes;
    assert(end <= BYTES_MAX, 'a list of texts has less than four gigabytes');
    if (count >= this.#offsets.length) {
      const offsets = new Uint32Array(1 + Math.max(count, FIRST_TEXTS, 2 * this.#count));
      offsets.set(this.#offsets.subarray(0, this.#count + 1));
      this.#offsets = offsets;
    }
    if (end > this.#bytes.length) {
      const bytes = new Uint8Array(Math.max(end, FIRST_BYTES, 2 * this.#bytes.length));
      bytes.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = bytes;
    }
  }
}

/** Shorter texts are copied byte by byte: faster than a view. */
const COPIED_BYTES = 32;

function copyTextTo(
  target: Uint8Array,
  to: number,
  { bytes, offsets }: Texts,
  index: number,
): void {
  const start = offsets[index]!;
  const end = offsets[index + 1]!;
  if (end - start >= COPIED_BYTES) target.set(bytes.subarray(start, end), to);
  else for (let at = start; at < end; at++) target[to + at - start] = bytes[at]!;
}

const BYTES_MAX = 0xffffffff;
const ENCODER = new TextEncoder();
