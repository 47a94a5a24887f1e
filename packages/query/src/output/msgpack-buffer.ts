// MessagePack encoding of result values; every number in its shortest form.
import { floorDiv, NANOS_PER_SECOND } from '@tidemark/core';
import { TextBuffer } from './bytes.ts';

const encoder = new TextEncoder();

/** Extension type of times: 8 bytes of seconds and 4 bytes of nanoseconds, big endian. */
const TIME_EXTENSION = 5;

export class MsgpackBuffer {
  readonly out = new TextBuffer();

  nil(): void {
    this.out.byte(0xc0);
  }

  boolean(value: boolean): void {
    this.out.byte(value ? 0xc3 : 0xc2);
  }

  float(value: number): void {
    const { bytes, at } = this.out.room(9);
    bytes[at] = 0xcb;
    new DataView(bytes.buffer, bytes.byteOffset).setFloat64(at + 1, value);
    this.out.commit(9);
  }

  integer(value: bigint): void {
    if (value >= 0n) this.#unsigned(value);
    else this.#negative(value);
  }

  string(text: string): void {
    this.text(encoder.encode(text));
  }

  /** A string of UTF-8 bytes. */
  text(bytes: Uint8Array): void {
    this.#header(bytes.length, { fix: 0xa0, fixMax: 31, byte8: 0xd9, byte16: 0xda, byte32: 0xdb });
    this.out.bytes(bytes);
  }

  arrayHeader(length: number): void {
    this.#header(length, { fix: 0x90, fixMax: 15, byte16: 0xdc, byte32: 0xdd });
  }

  mapHeader(length: number): void {
    this.#header(length, { fix: 0x80, fixMax: 15, byte16: 0xde, byte32: 0xdf });
  }

  time(nanos: bigint): void {
    const seconds = floorDiv(nanos, NANOS_PER_SECOND);
    const { bytes, at } = this.out.room(15);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    bytes[at] = 0xc7;
    bytes[at + 1] = 12;
    bytes[at + 2] = TIME_EXTENSION;
    view.setBigInt64(at + 3, seconds);
    view.setInt32(at + 11, Number(nanos - seconds * NANOS_PER_SECOND));
    this.out.commit(15);
  }

  #unsigned(value: bigint): void {
    if (value < 128n) this.out.byte(Number(value));
    else if (value < 256n) this.#number(0xcc, 1, value);
    else if (value < 65_536n) this.#number(0xcd, 2, value);
    else if (value < 4_294_967_296n) this.#number(0xce, 4, value);
    else this.#number(0xcf, 8, value);
  }

  #negative(value: bigint): void {
    if (value >= -32n) this.out.byte(256 + Number(value));
    else if (value >= -128n) this.#number(0xd0, 1, value);
    else if (value >= -32_768n) this.#number(0xd1, 2, value);
    else if (value >= -2_147_483_648n) this.#number(0xd2, 4, value);
    else this.#number(0xd3, 8, value);
  }

  #number(tag: number, sizeBytes: number, value: bigint): void {
    const { bytes, at } = this.out.room(9);
    bytes[at] = tag;
    for (let i = 0; i < sizeBytes; i++) {
      bytes[at + 1 + i] = Number((value >> BigInt(8 * (sizeBytes - 1 - i))) & 0xffn);
    }
    this.out.commit(1 + sizeBytes);
  }

  #header(
    length: number,
    tags: {
      readonly fix: number;
      readonly fixMax: number;
      readonly byte8?: number;
      readonly byte16: number;
      readonly byte32: number;
    },
  ): void {
    if (length <= tags.fixMax) this.out.byte(tags.fix + length);
    else if (tags.byte8 !== undefined && length < 256) this.#number(tags.byte8, 1, BigInt(length));
    else if (length < 65_536) this.#number(tags.byte16, 2, BigInt(length));
    else this.#number(tags.byte32, 4, BigInt(length));
  }
}
