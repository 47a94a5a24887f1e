// Reads plain line protocol into columns. Plain: no escapes, no quotes in names, no comments, no
// carriage returns, values as clients print them. For any other body `parse` answers `undefined`
// and has done nothing.
//
// The fields of a line are expected to be those of the line before, and its series to be known:
// such lines are read by the kernel (RowScanner), many at a time. What it leaves is read here, line
// by line.
import { assert } from '@tidemark/core';
import { PRECISION_NANOS, truncateToPrecision } from '@tidemark/line-protocol';
import { RowScanner } from '@tidemark/kernels';
import type { RowFieldKind as FieldKind } from '@tidemark/kernels';
import type { PointBatch, RowBlock } from '../point-batch.ts';
import { BlockColumns } from './block-columns.ts';
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
/** What fits into 64 bits. */
const TIME_DIGITS_MAX = 19;
const TIME_MAX = 9223372036854775806n;

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Blocks of one write; more kinds of lines than this are left to the general parser. */
const BLOCKS_MAX = 256;

export class ColumnParser {
  readonly #scanner = new RowScanner();
  readonly #series = new SeriesIndex(this.#scanner);
  #body: Uint8Array = new Uint8Array(0);
  #position = 0;
  /** Blocks of the present write in the order of their first rows. */
  #blocks: BlockColumns[] = [];
  /** The block that the scanner expects. */
  #current: BlockColumns | undefined;
  /** Kept for the next write: most have the same fields. */
  #spare: BlockColumns[] = [];
  #seriesOfRow = new Uint32Array(1024);
  #times = new BigInt64Array(1024);
  #blockOfRow = new Uint32Array(1024);
  #rowInBlock = new Uint32Array(1024);
  #rowCount = 0;
  #valueNumber = 0;
  #valueText = '';

  parse(body: Uint8Array, options: ParseWriteOptions): PointBatch | undefined {
    this.#body = body;
    this.#rowCount = 0;
    this.#begin();
    this.#series.begin();
    const unit = PRECISION_NANOS[options.precision];
    const now = truncateToPrecision(options.now, options.precision);
    this.#scanner.open(body, { unitNanos: unit, nowNanos: now });
    while (this.#scanner.cursor < body.length) {
      if (!this.#run(unit, now)) return this.#giveUp();
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
    this.#series.end();
    for (const block of this.#blocks) block.clear();
    this.#body = new Uint8Array(0);
    return undefined;
  }

  /** As many lines as fit the block in mind, then whatever stopped them. */
  #run(unit: bigint, now: bigint): boolean {
    const scanner = this.#scanner;
    if (this.#current === undefined) return this.#otherLine(unit, now);
    const stop = scanner.run();
    if (stop === 'new-series') {
      const { start, end } = scanner.newSeries;
      return this.#series.add(this.#body, start, end);
    }
    if (!this.#takeRows(this.#current)) return false;
    return stop !== 'other' || this.#otherLine(unit, now);
  }

  #takeRows(block: BlockColumns): boolean {
    const scanner = this.#scanner;
    const { rowCount } = scanner;
    if (rowCount === 0) return true;
    const first = this.#rowCount;
    this.#reserve(first + rowCount);
    this.#seriesOfRow.set(scanner.seriesOfRow, first);
    this.#times.set(scanner.times, first);
    if (this.#blocks.length > 1) this.#noteRows(block, first, rowCount);
    const body = this.#body;
    if (!block.append(scanner, (start, end) => textOf(body, start, end))) return false;
    this.#rowCount += rowCount;
    scanner.take();
    return true;
  }

  #noteRows(block: BlockColumns, first: number, rowCount: number): void {
    this.#blockOfRow.fill(block.index, first, first + rowCount);
    const offset = block.rowCount - first;
    for (let row = first; row < first + rowCount; row++) this.#rowInBlock[row] = row + offset;
  }

  /** A line of another block, or one that only this parser reads. */
  #otherLine(unit: bigint, now: bigint): boolean {
    const scanner = this.#scanner;
    this.#position = scanner.cursor;
    if (this.#body[this.#position] === NEWLINE) {
      scanner.cursor = this.#position + 1;
      return true;
    }
    const end = this.#seriesEnd();
    if (end < 0) return false;
    const known = this.#blocks.find(
      (block) => block !== this.#current && block.mayFollow(this.#body, end + 1),
    );
    if (known !== undefined) {
      this.#expect(known);
      scanner.run();
      if (scanner.rowCount > 0) return this.#takeRows(known);
    }
    return this.#line(end, unit, now);
  }

  #expect(block: BlockColumns): void {
    this.#current = block;
    this.#scanner.beginBlock(block.fields);
  }

  #line(end: number, unit: bigint, now: bigint): boolean {
    const row = this.#rowCount;
    this.#reserve(row + 1);
    const series = this.#series.find(this.#body, this.#position, end);
    if (series < 0) return false;
    this.#seriesOfRow[row] = series;
    this.#position = end + 1;
    const block = this.#fields();
    if (block === undefined || !this.#time(row, unit, now)) return false;
    if (this.#blocks.length > 1) this.#noteRows(block, row, 1);
    block.endRow();
    this.#rowCount++;
    this.#scanner.cursor = this.#position;
    if (block !== this.#current) this.#expect(block);
    return true;
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

  /**
   * Reads names and values, and finds or opens the block that they make; the row is staged there.
   */
  #fields(): BlockColumns | undefined {
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
        if (byte <= SPACE || byte === COMMA || byte === BACKSLASH || byte === QUOTE)
          return undefined;
      }
      if (p === start || p >= body.length) return undefined;
      // With its `=`: what follows a name is then compared in the same loop.
      names.push(body.slice(start, p + 1));
      this.#position = p + 1;
      const kind = this.#value();
      if (kind === undefined) return undefined;
      kinds.push(kind);
      values.push({ number: this.#valueNumber, text: this.#valueText });
      if (body[this.#position] !== COMMA) break;
      this.#position++;
    }
    const block = this.#block(names, kinds);
    if (block !== undefined) values.forEach(({ number, text }, f) => block.stage(f, number, text));
    return block;
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
    // Only now rows say which block they are of; until here all are of the first.
    if (block.index === 1) {
      const [first] = this.#blocks;
      this.#blockOfRow.fill(0, 0, this.#rowCount);
      for (let row = 0; row < this.#rowCount; row++) this.#rowInBlock[row] = row;
      assert(first?.rowCount === this.#rowCount, 'all rows so far are of the first block');
    }
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
    const start = this.#position;
    let byte = body[start];
    if (byte === NEWLINE || byte === undefined) {
      this.#position++;
      this.#times[row] = now;
      return true;
    }
    if (byte !== SPACE) return false;
    let p = start + 1;
    byte = body[p];
    const isNegative = byte === MINUS;
    if (isNegative) byte = body[++p];
    const first = p;
    while (byte !== undefined && byte >= ZERO && byte <= NINE) byte = body[++p];
    if (p === first || p - first > TIME_DIGITS_MAX) return false;
    if (byte !== NEWLINE && byte !== undefined) return false;
    const magnitude = BigInt(textOf(body, first, p) ?? '0') * unit;
    if (magnitude > TIME_MAX) return false;
    this.#times[row] = isNegative ? -magnitude : magnitude;
    this.#position = p + 1;
    return true;
  }

  /** Room for so many rows. */
  #reserve(count: number): void {
    let capacity = this.#times.length;
    if (count <= capacity) return;
    while (capacity < count) capacity *= 2;
    const larger = (array: Uint32Array): Uint32Array<ArrayBuffer> => {
      const copy = new Uint32Array(capacity);
      copy.set(array);
      return copy;
    };
    this.#seriesOfRow = larger(this.#seriesOfRow);
    this.#blockOfRow = larger(this.#blockOfRow);
    this.#rowInBlock = larger(this.#rowInBlock);
    const times = new BigInt64Array(capacity);
    times.set(this.#times);
    this.#times = times;
  }

  #build(options: ParseWriteOptions): PointBatch {
    const count = this.#rowCount;
    const blocks: RowBlock[] = this.#blocks.map((block) => block.take());
    const isSingle = blocks.length <= 1;
    this.#series.end();
    this.#body = new Uint8Array(0);
    return {
      database: options.database,
      retentionPolicy: options.retentionPolicy,
      rowCount: count,
      series: this.#series.take(),
      seriesOfRow: this.#seriesOfRow.slice(0, count),
      times: this.#times.slice(0, count),
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
