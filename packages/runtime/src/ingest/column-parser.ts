// Reads plain line protocol into columns. Plain: no escapes and no quotes in names, no comments, no
// invalid lines. For any other body `parse` returns `undefined` and has done nothing. The fields of
// a line are expected to be those of the previous line, and its series to be known: such lines are
// read by the kernel (RowScanner), many at a time. The line-protocol parser reads the other lines
// one by one.
import { assert, fieldTypeOf, PRECISION_NANOS } from '@tidemark/core';
import { LineParser, SeriesCache, truncateToPrecision } from '@tidemark/line-protocol';
import { RowScanner } from '@tidemark/kernels';
import type { PointBatch, RowBlock } from '../point-batch.ts';
import { BlockColumns } from './block-columns.ts';
import type { LineFields } from './block-columns.ts';
import type { ParseWriteOptions } from './parse-write.ts';
import { SeriesIndex } from './series-index.ts';

const NEWLINE = 10;

/**
 * Maximum number of blocks of one write; bodies with more kinds of lines are left to the general
 * parser.
 */
const BLOCKS_MAX = 256;
/** Together with the longest key, less than the limit for key and field name of a line. */
const FIELD_NAME_MAX = 4096;
/** Plain names of fields: no escapes, no characters that end a name. */
const PLAIN_NAME = /^[^\p{Cc} "\\,=]+$/u;

export class ColumnParser {
  readonly #scanner = new RowScanner();
  readonly #series = new SeriesIndex(this.#scanner);
  #body: Uint8Array = new Uint8Array(0);
  /** Blocks of the present write in the order of their first rows. */
  #blocks: BlockColumns[] = [];
  /** The block that the scanner expects. */
  #current: BlockColumns | undefined;
  /** Blocks for the next write: most have the same fields. */
  #spare: BlockColumns[] = [];
  #seriesOfRow = new Uint32Array(1024);
  #times = new BigInt64Array(1024);
  #blockOfRow = new Uint32Array(1024);
  #rowInBlock = new Uint32Array(1024);
  #rowCount = 0;
  readonly #cache: SeriesCache;
  /** The lines of the present body that the scanner does not read. */
  #lines: LineParser | undefined;

  constructor(cache = new SeriesCache()) {
    this.#cache = cache;
  }

  parse(body: Uint8Array, options: ParseWriteOptions): PointBatch | undefined {
    this.#body = body;
    this.#rowCount = 0;
    this.#begin();
    this.#series.begin();
    const { precision, now } = options;
    this.#lines = new LineParser(body, { precision, now, cache: this.#cache });
    this.#scanner.open(body, {
      unitNanos: PRECISION_NANOS[precision],
      nowNanos: truncateToPrecision(now, precision),
    });
    while (this.#scanner.cursor < body.length) {
      if (!this.#run()) return this.#giveUp();
    }
    return this.#build(options);
  }

  #begin(): void {
    this.#spare.push(...this.#blocks.filter((block) => !this.#spare.includes(block)));
    if (this.#spare.length > BLOCKS_MAX) this.#spare = [];
    this.#blocks = [];
    this.#current = undefined;
  }

  #forgetBody(): void {
    this.#body = new Uint8Array(0);
    this.#lines = undefined;
  }

  #giveUp(): undefined {
    this.#series.end();
    for (const block of this.#blocks) block.clear();
    this.#forgetBody();
    return undefined;
  }

  /** Reads as many lines as fit the expected block, then the one that stopped it. */
  #run(): boolean {
    const scanner = this.#scanner;
    if (this.#current === undefined) return this.#otherLine();
    const stop = scanner.run();
    if (stop === 'new-series') {
      const { start, end } = scanner.newSeries;
      return this.#series.add(this.#body, start, end);
    }
    if (!this.#takeRows(this.#current)) return false;
    return stop !== 'other' || this.#otherLine();
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
    if (!block.append(scanner, body)) return false;
    this.#rowCount += rowCount;
    scanner.take();
    return true;
  }

  #noteRows(block: BlockColumns, first: number, rowCount: number): void {
    this.#blockOfRow.fill(block.index, first, first + rowCount);
    const offset = block.rowCount - first;
    for (let row = first; row < first + rowCount; row++) this.#rowInBlock[row] = row + offset;
  }

  /** A line of another block, or one that the scanner does not read. */
  #otherLine(): boolean {
    const scanner = this.#scanner;
    const start = scanner.cursor;
    if (this.#body[start] === NEWLINE) {
      scanner.cursor = start + 1;
      return true;
    }
    const keyEnd = scanner.plainKeyEnd();
    if (keyEnd < 0) return false;
    const known = this.#blocks.find(
      (block) => block !== this.#current && block.mayFollow(this.#body, keyEnd + 1),
    );
    if (known !== undefined) {
      this.#expect(known);
      scanner.run();
      if (scanner.rowCount > 0) return this.#takeRows(known);
    }
    return this.#line(start, keyEnd);
  }

  #expect(block: BlockColumns): void {
    this.#current = block;
    this.#scanner.beginBlock(block.fields);
  }

  #line(start: number, keyEnd: number): boolean {
    const values = this.#lines?.valuesAt(start, keyEnd);
    if (values === undefined) return false;
    const row = this.#rowCount;
    this.#reserve(row + 1);
    const series = this.#series.find(this.#body, start, keyEnd);
    if (series < 0) return false;
    this.#seriesOfRow[row] = series;
    this.#times[row] = values.time;
    const block = this.#blockOf(values.fields);
    if (block === undefined) return false;
    if (this.#blocks.length > 1) this.#noteRows(block, row, 1);
    block.addRow(values.fields);
    this.#rowCount++;
    this.#scanner.cursor = values.end + 1;
    if (block !== this.#current) this.#expect(block);
    return true;
  }

  /** The block of the fields, found or opened. */
  #blockOf(fields: LineFields): BlockColumns | undefined {
    const found = this.#blocks.find((block) => block.takes(fields));
    if (found !== undefined) return found;
    if (this.#blocks.length >= BLOCKS_MAX) return undefined;
    const block = this.#spare.find((spare) => spare.takes(fields)) ?? newBlock(fields);
    if (block === undefined) return undefined;
    block.index = this.#blocks.length;
    block.clear();
    this.#blocks.push(block);
    // Only now rows record their block; so far all are of the first.
    if (block.index === 1) {
      const [first] = this.#blocks;
      this.#blockOfRow.fill(0, 0, this.#rowCount);
      for (let row = 0; row < this.#rowCount; row++) this.#rowInBlock[row] = row;
      assert(first?.rowCount === this.#rowCount, 'all rows so far are of the first block');
    }
    return block;
  }

  /** Makes room for this many rows. */
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
    this.#forgetBody();
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

/** A block of these fields; `undefined` when their names are not plain. */
function newBlock(fields: LineFields): BlockColumns | undefined {
  const names = fields.map(([name]) => name);
  if (new Set(names).size < names.length) return undefined;
  if (!names.every((name) => PLAIN_NAME.test(name) && name.length <= FIELD_NAME_MAX)) {
    return undefined;
  }
  const kinds = fields.map(([, value]) => fieldTypeOf(value));
  // Scripts know no unsigned integers.
  return kinds.every((kind) => kind !== 'unsigned') ? new BlockColumns(names, kinds) : undefined;
}
