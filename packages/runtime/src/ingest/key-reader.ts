// Takes apart series keys whose measurement and tag keys are those of the key before: the bytes between the values are
// compared, and the values are put into the page of the write. For anything else the caller has a general way.
import { PagedSeries, SeriesPage } from '../data/paged-series.ts';
import type { SeriesShape } from '../data/paged-series.ts';

const BLANK = 32;
const QUOTE = 34;
const COMMA = 44;
const EQUALS = 61;
const BACKSLASH = 92;
const DELETE = 127;

/** Pages larger than this are rare; what was needed for one is let go of. */
const SPARE_BYTES_MAX = 1 << 20;

export class KeyReader {
  #shape: SeriesShape | undefined;
  /** Before each value: a comma, the tag's key and `=`; before the first one the measurement too. */
  #between: readonly Uint8Array[] = [];
  #page = new SeriesPage();
  #bytes = new Uint8Array(1024);
  #byteCount = 0;
  #ends = new Uint32Array(256);
  #valueCount = 0;

  /** The keys to come are like this one, whose tags are sorted as they are spelled. */
  expect(shape: SeriesShape): void {
    const encoder = new TextEncoder();
    this.#shape = shape;
    this.#between = shape.tagKeys.map((key, i) =>
      encoder.encode(`${i === 0 ? shape.name : ''},${key}=`),
    );
  }

  /** The series that `body[start, end)` spells; `undefined` when it is not of the expected shape, or not plain. */
  read(body: Uint8Array, start: number, end: number, stableId: number): PagedSeries | undefined {
    const shape = this.#shape;
    if (shape === undefined || this.#between.length === 0) return undefined;
    this.#reserve(end - start);
    const bytes = this.#bytes;
    let at = start;
    let to = this.#byteCount;
    for (let i = 0; i < this.#between.length; i++) {
      const between = this.#between[i] as Uint8Array;
      for (let k = 0; k < between.length; k++) if (body[at + k] !== between[k]) return undefined;
      at += between.length;
      const from = to;
      for (; at < end; at++) {
        const byte = body[at] as number;
        if (byte === COMMA) break;
        if (!isPlain(byte)) return undefined;
        bytes[to++] = byte;
      }
      if (to === from) return undefined;
      this.#ends[this.#valueCount + i] = to;
    }
    if (at !== end) return undefined;
    const first = this.#valueCount;
    this.#byteCount = to;
    this.#valueCount += this.#between.length;
    return new PagedSeries(shape, { page: this.#page, first }, stableId);
  }

  /** The series that were read so far can be used; later ones lie in another page. */
  endPage(): void {
    if (this.#valueCount === 0) return;
    const text = ascii.decode(this.#bytes.subarray(0, this.#byteCount));
    this.#page.fill(text, this.#ends.slice(0, this.#valueCount));
    this.#page = new SeriesPage();
    this.#byteCount = 0;
    this.#valueCount = 0;
    if (this.#bytes.length > SPARE_BYTES_MAX) this.#bytes = new Uint8Array(1024);
  }

  #reserve(keyBytes: number): void {
    const bytes = this.#byteCount + keyBytes;
    if (bytes > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(bytes, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    const values = this.#valueCount + this.#between.length;
    if (values > this.#ends.length) {
      const larger = new Uint32Array(Math.max(values, this.#ends.length * 2));
      larger.set(this.#ends);
      this.#ends = larger;
    }
  }
}

/** Nothing else comes here, so that offsets in bytes are offsets in the text. */
const ascii = new TextDecoder();

function isPlain(byte: number): boolean {
  return byte > BLANK && byte < DELETE && byte !== EQUALS && byte !== QUOTE && byte !== BACKSLASH;
}
