// Writing and reading of the little-endian primitives that all file formats share
// (docs/formats/wal.md, "Primitives"). Readers survive any input: they throw `DecodeError`, which
// the owner of the file turns into `Corruption`.
import { utf8Text } from '@tidemark/core';

/** The bytes do not have the announced structure. The caller knows the file and wraps it. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * A growing buffer. `finish` hands out the bytes written so far as a view that later writes do not
 * touch.
 */
export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** Leaves zero bytes for something that is set later. Only before anything else is written. */
  skip(count: number): void {
    this.#reserve(count);
    this.#length += count;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  i64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigInt64(this.#length, value, true);
    this.#length += 8;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** LEB128 of a non-negative safe integer. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Zig-zag LEB128 of an int64. */
  varint64(value: bigint): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Bytes [start, end) of an array. Meant for short ranges: it makes no view. */
  range(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    const target = this.#bytes;
    const shift = this.#length - start;
    for (let i = start; i < end; i++) target[i + shift] = bytes[i]!;
    this.#length += end - start;
  }

  /** Length as varint, then the bytes. */
  block(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  text(text: string): void {
    if (!this.#isShortAscii(text)) this.block(utf8(text));
  }

  /** Writes a text whose length takes one byte, if it is ASCII: names are. */
  #isShortAscii(text: string): boolean {
    const { length } = text;
    if (length >= 0x80) return false;
    this.#reserve(1 + length);
    const bytes = this.#bytes;
    const start = this.#length + 1;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) return false;
      bytes[start + i] = code;
    }
    bytes[start - 1] = length;
    this.#length = start + length;
    return true;
  }

  setU32(offset: number, value: number): void {
    this.#view.setUint32(offset, value, true);
  }

  /**
   * The bytes written so far. They are valid until the next write: the writer is empty now and
   * reuses its memory.
   */
  drain(): Uint8Array {
    const result = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return result;
  }

  finish(): Uint8Array {
    const result = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(0);
    this.#view = new DataView(this.#bytes.buffer);
    this.#length = 0;
    return result;
  }
}

/** Reads what `ByteWriter` wrote; every read past the end throws `DecodeError`. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = position;
  }

  /** The whole input; `position` and `skip` count from its start. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  #take(count: number): number {
    const at = this.#position;
    if (count > this.#bytes.length - at) throw new DecodeError('unexpected end of data');
    this.#position = at + count;
    return at;
  }

  u8(): number {
    return this.#bytes[this.#take(1)] ?? 0;
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw new DecodeError('varint out of range');
        return value;
      }
      scale *= 0x80;
    }
    throw new DecodeError('varint too long');
  }

  varint64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw new DecodeError('varint too long');
  }

  /** Steps over a varint of either kind. */
  skipVarint(): void {
    for (let i = 0; i < 10; i++) if (this.u8() < 0x80) return;
    throw new DecodeError('varint too long');
  }

  /**
   * Reads the number of elements that follow, each of at least `minBytes`. A number for which the
   * input is too short throws, so that damage cannot cause large allocations.
   */
  count(minBytes = 1): number {
    const value = this.varint();
    if (value * minBytes > this.remaining) throw new DecodeError('count exceeds the data');
    return value;
  }

  /** Steps over bytes and returns where they begin. */
  skip(length: number): number {
    return this.#take(length);
  }

  /** A view into the input. */
  raw(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  block(): Uint8Array {
    return this.raw(this.varint());
  }

  text(): string {
    return utf8Text(this.block());
  }
}
