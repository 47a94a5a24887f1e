// Reads plain line protocol into columns. Plain: no escapes, no quotes in names, no comments, no carriage returns,
// values as clients print them. For any other body `parse` answers `undefined` and has done nothing.
//
// A row of ten fields costs about 0.7 µs: series are found by hashing their bytes, and the fields of a line are
// expected to be those of the line before, so that names are compared, not read.
import { PRECISION_NANOS, truncateToPrecision } from '@tidemark/line-protocol';
import type { PointBatch, RowBlock } from '../point-batch.ts';
import { BlockColumns } from './block-columns.ts';
import type { FieldKind } from './block-columns.ts';
import type { ParseWriteOptions } from './parse-write.ts';
import { SeriesIndex } from './series-index.ts';
import { textOf } from './text.ts';

const NEWLINE = 10;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
const EQUALS = 61;
const BACKSLASH = 92;
const LOWER_I = 105;

/** Digits that a double holds exactly. */
const EXACT_DIGITS = 15;
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
const TWO_32 = 4294967296;

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Blocks of one write; more kinds of lines than this are left to the general parser. */
const BLOCKS_MAX = 256;

export class ColumnParser {
  readonly #series = new SeriesIndex();
  #body: Uint8Array = new Uint8Array(0);
  #position = 0;
  /** Blocks of the present write, the one of the last line first in mind. */
  #blocks: BlockColumns[] = [];
  #current: BlockColumns | undefined;
  /** Kept for the next write: most have the same fields. */
  #spare: BlockColumns[] = [];
  #seriesOfRow = new Uint32Array(1024);
  #timeHalves = new Int32Array(2048);
  #blockOfRow = new Uint32Array(1024);
  #rowInBlock = new Uint32Array(1024);
  #rowCount = 0;
  #valueNumber = 0;
  #valueText = '';
  #lastTime = NaN;
  #lastLow = 0;
  #lastHigh = 0;

  parse(body: Uint8Array, options: ParseWriteOptions): PointBatch | undefined {
    this.#body = body;
    this.#position = 0;
    this.#rowCount = 0;
    this.#lastTime = NaN;
    this.#series.begin();
    this.#begin();
    const unit = PRECISION_NANOS[options.precision];
    const now = truncateToPrecision(options.now, options.precision);
    while (this.#position < body.length) {
      if (body[this.#position] === NEWLINE) {
        this.#position++;
        continue;
      }
      if (!this.#line(unit, now)) return this.#giveUp();
    }
    return this.#build(options);
  }

  #begin(): void {
    this.#spare.push(...this.#blocks.filter((block) => !this.#spare.includes(block)));
    if (this.#spare.length > BLOCKS_MAX) this.#spare = [];
    this.#blocks = [];
    this.#current = undefined;
  }

  #giveUp(): undefined {
    for (const block of this.#blocks) block.clear();
    this.#body = new Uint8Array(0);
    return undefined;
  }

  #line(unit: bigint, now: bigint): boolean {
    const row = this.#rowCount;
    if (row === this.#seriesOfRow.length) this.#grow();
    const end = this.#seriesEnd();
    if (end < 0) return false;
    const series = this.#series.find(this.#body, this.#position, end);
    if (series < 0) return false;
    this.#seriesOfRow[row] = series;
    this.#position = end + 1;
    if (!this.#fields(row)) return false;
    return this.#time(row, unit, now);
  }

  /** Offset of the blank behind measurement and tags; -1 when something unusual comes first. */
  #seriesEnd(): number {
    const body = this.#body;
    const { length } = body;
    for (let i = this.#position; i < length; i++) {
      const byte = body[i] as number;
      if (byte === SPACE) return i === this.#position ? -1 : i;
      if (byte < SPACE || byte === BACKSLASH || byte === QUOTE) return -1;
    }
    return -1;
  }

  #fields(row: number): boolean {
    const expected = this.#current;
    if (expected !== undefined && this.#expectedFields(expected)) {
      this.#blockOfRow[row] = expected.index;
      this.#rowInBlock[row] = expected.endRow();
      this.#rowCount++;
      return true;
    }
    return this.#otherFields(row);
  }

  /** Fields in the order and of the kinds of `block`; otherwise nothing has been consumed. */
  #expectedFields(block: BlockColumns): boolean {
    const body = this.#body;
    const start = this.#position;
    const { names, kinds } = block;
    for (let f = 0; f < names.length; f++) {
      const name = names[f] as Uint8Array;
      let p = this.#position;
      for (let i = 0; i < name.length; i++) {
        if (body[p++] !== name[i]) return this.#back(start);
      }
      this.#position = p;
      if (this.#value() !== kinds[f]) return this.#back(start);
      const next = body[this.#position];
      const isLast = f === names.length - 1;
      if (isLast ? next === COMMA : next !== COMMA) return this.#back(start);
      if (!isLast) this.#position++;
      block.stage(f, this.#valueNumber, this.#valueText);
    }
    return true;
  }

  #back(start: number): false {
    this.#position = start;
    return false;
  }

  /** Reads names and values, and finds or opens the block that they make. */
  #otherFields(row: number): boolean {
    const body = this.#body;
    const names: Uint8Array[] = [];
    const kinds: FieldKind[] = [];
    const values: { readonly number: number; readonly text: string }[] = [];
    for (;;) {
      const start = this.#position;
      let p = start;
      for (; p < body.length; p++) {
        const byte = body[p] as number;
        if (byte === EQUALS) break;
        if (byte <= SPACE || byte === COMMA || byte === BACKSLASH || byte === QUOTE) return false;
      }
      if (p === start || p >= body.length) return false;
      // With its `=`: what follows a name is then compared in the same loop.
      names.push(body.slice(start, p + 1));
      this.#position = p + 1;
      const kind = this.#value();
      if (kind === undefined) return false;
      kinds.push(kind);
      values.push({ number: this.#valueNumber, text: this.#valueText });
      if (body[this.#position] !== COMMA) break;
      this.#position++;
    }
    const block = this.#block(names, kinds);
    if (block === undefined) return false;
    values.forEach(({ number, text }, f) => block.stage(f, number, text));
    this.#current = block;
    this.#blockOfRow[row] = block.index;
    this.#rowInBlock[row] = block.endRow();
    this.#rowCount++;
    return true;
  }

  #block(names: readonly Uint8Array[], kinds: readonly FieldKind[]): BlockColumns | undefined {
    const found = this.#blocks.find((block) => block.has(names, kinds));
    if (found !== undefined) return found;
    if (this.#blocks.length >= BLOCKS_MAX) return undefined;
    let block = this.#spare.find((spare) => spare.has(names, kinds));
    if (block === undefined) {
      const texts = names.map((name) => textOf(name, 0, name.length - 1));
      if (texts.includes(undefined) || new Set(texts).size < texts.length) return undefined;
      block = new BlockColumns(names, kinds, texts as string[]);
    }
    block.index = this.#blocks.length;
    block.clear();
    this.#blocks.push(block);
    return block;
  }

  /** Reads one value; its kind, `undefined` when it is not a plain one. */
  #value(): FieldKind | undefined {
    const body = this.#body;
    let p = this.#position;
    let byte = body[p] as number;
    const isNegative = byte === MINUS;
    if (isNegative) byte = body[++p] as number;
    if (!(byte >= ZERO && byte <= NINE)) {
      return isNegative || byte === DOT ? this.#oddValue() : this.#wordOrText();
    }
    const start = p;
    let mantissa = 0;
    let scale = 0;
    for (; byte >= ZERO && byte <= NINE; byte = body[++p] as number) {
      mantissa = mantissa * 10 + (byte - ZERO);
    }
    let digits = p - start;
    if (byte === DOT) {
      const from = p + 1;
      for (byte = body[++p] as number; byte >= ZERO && byte <= NINE; byte = body[++p] as number) {
        mantissa = mantissa * 10 + (byte - ZERO);
      }
      scale = p - from;
      digits += scale;
      if (scale === 0) return this.#oddValue();
    }
    if (digits > EXACT_DIGITS) return this.#oddValue();
    const value = isNegative ? -mantissa : mantissa;
    if (byte === LOWER_I && scale === 0) {
      if (!isValueEnd(body[p + 1])) return undefined;
      this.#position = p + 1;
      this.#valueNumber = value;
      return 'integer';
    }
    if (!isValueEnd(byte)) return this.#oddValue();
    this.#position = p;
    // Both exact, so the quotient is the nearest double.
    this.#valueNumber = scale === 0 ? value : value / (POWERS[scale] as number);
    return 'float';
  }

  /** Numbers with exponents or many digits; long integers are left to the general parser. */
  #oddValue(): FieldKind | undefined {
    const body = this.#body;
    let p = this.#position;
    while (!isValueEnd(body[p])) p++;
    const text = textOf(body, this.#position, p) ?? '';
    if (!NUMBER.test(text)) return undefined;
    const value = Number(text);
    if (!Number.isFinite(value)) return undefined;
    this.#position = p;
    this.#valueNumber = value;
    return 'float';
  }

  #wordOrText(): FieldKind | undefined {
    const body = this.#body;
    const start = this.#position;
    let p = start;
    if (body[p] === QUOTE) {
      for (p++; p < body.length && body[p] !== QUOTE; p++) {
        if (body[p] === BACKSLASH || body[p] === NEWLINE) return undefined;
      }
      if (!isValueEnd(body[p + 1]) || p >= body.length) return undefined;
      const text = textOf(body, start + 1, p);
      if (text === undefined) return undefined;
      this.#position = p + 1;
      this.#valueText = text;
      return 'string';
    }
    while (!isValueEnd(body[p])) p++;
    const value = BOOLEANS.get(textOf(body, start, p) ?? '');
    if (value === undefined) return undefined;
    this.#position = p;
    this.#valueNumber = value;
    return 'boolean';
  }

  #time(row: number, unit: bigint, now: bigint): boolean {
    const body = this.#body;
    const halves = this.#timeHalves;
    let byte = body[this.#position];
    if (byte === NEWLINE || byte === undefined) {
      this.#position++;
      halves[row * 2] = Number(BigInt.asIntN(32, now));
      halves[row * 2 + 1] = Number(now >> 32n);
      return true;
    }
    if (byte !== SPACE) return false;
    const start = ++this.#position;
    let p = start;
    byte = body[p];
    const isNegative = byte === MINUS;
    if (isNegative) byte = body[++p];
    const first = p;
    let value = 0;
    for (; byte !== undefined && byte >= ZERO && byte <= NINE; byte = body[++p]) {
      value = value * 10 + (byte - ZERO);
    }
    const digits = p - first;
    if (digits === 0 || (byte !== NEWLINE && byte !== undefined)) return false;
    this.#position = p + 1;
    if (digits <= EXACT_DIGITS) {
      const signed = isNegative ? -value : value;
      if (signed !== this.#lastTime && !this.#rememberTime(signed, unit)) return false;
      halves[row * 2] = this.#lastLow;
      halves[row * 2 + 1] = this.#lastHigh;
      return true;
    }
    // Nanoseconds of today have 19 digits: two exact parts and one multiplication.
    if (digits > 18 + 1 || unit !== 1n || isNegative) return false;
    return this.#longTime(row, first, p);
  }

  #rememberTime(value: number, unit: bigint): boolean {
    const nanos = BigInt(value) * unit;
    if (BigInt.asIntN(64, nanos) !== nanos || isOutOfRange(nanos)) return false;
    this.#lastTime = value;
    this.#lastLow = Number(BigInt.asIntN(32, nanos));
    this.#lastHigh = Number(nanos >> 32n);
    return true;
  }

  /** A non-negative number of 16 to 19 digits in nanoseconds. */
  #longTime(row: number, start: number, end: number): boolean {
    const body = this.#body;
    let high = 0;
    let low = 0;
    const split = end - 9;
    for (let i = start; i < split; i++) high = high * 10 + ((body[i] as number) - ZERO);
    for (let i = split; i < end; i++) low = low * 10 + ((body[i] as number) - ZERO);
    // high * 10^9 + low without leaving the exact integers: high has up to 10 digits, its halves up to 17 bits.
    if (high >= 9223372036) return false;
    const highUpper = Math.floor(high / 65536);
    const highLower = high - highUpper * 65536;
    const lower = highLower * 1e9 + low;
    const upper = highUpper * 1e9;
    // value = upper * 2^16 + lower
    const upperTop = Math.floor(upper / 65536);
    const total = (upper - upperTop * 65536) * 65536 + lower;
    const carry = Math.floor(total / TWO_32);
    this.#timeHalves[row * 2] = total - carry * TWO_32;
    this.#timeHalves[row * 2 + 1] = upperTop + carry;
    return true;
  }

  #grow(): void {
    const double = (array: Uint32Array): Uint32Array<ArrayBuffer> => {
      const larger = new Uint32Array(array.length * 2);
      larger.set(array);
      return larger;
    };
    this.#seriesOfRow = double(this.#seriesOfRow);
    this.#blockOfRow = double(this.#blockOfRow);
    this.#rowInBlock = double(this.#rowInBlock);
    const times = new Int32Array(this.#timeHalves.length * 2);
    times.set(this.#timeHalves);
    this.#timeHalves = times;
  }

  #build(options: ParseWriteOptions): PointBatch {
    const count = this.#rowCount;
    const blocks: RowBlock[] = this.#blocks.map((block) => block.take());
    const isSingle = blocks.length <= 1;
    this.#body = new Uint8Array(0);
    return {
      database: options.database,
      retentionPolicy: options.retentionPolicy,
      rowCount: count,
      series: this.#series.take(),
      seriesOfRow: this.#seriesOfRow.slice(0, count),
      times: new BigInt64Array(this.#timeHalves.slice(0, count * 2).buffer),
      blocks,
      blockOfRow: isSingle ? undefined : this.#blockOfRow.slice(0, count),
      rowInBlock: isSingle ? undefined : this.#rowInBlock.slice(0, count),
    };
  }
}

const BOOLEANS: ReadonlyMap<string, number> = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((text) => [text, 1] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((text) => [text, 0] as const),
]);

function isValueEnd(byte: number | undefined): boolean {
  return byte === COMMA || byte === SPACE || byte === NEWLINE || byte === undefined;
}

function isOutOfRange(nanos: bigint): boolean {
  return nanos < -9223372036854775806n || nanos > 9223372036854775806n;
}
