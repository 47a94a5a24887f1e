// Reads line protocol into rows for tasks (assembly/rows.ts): many lines per call, as long as their
// series are known and their fields are those of the block.
import { assert, Unavailable } from '@tidemark/core';
import { BODY_SLACK_BYTES, ROW_KINDS, ROW_STOPS } from './abi.gen.ts';
import { writeDecimalPowers } from './decimal-powers.ts';
import { KernelBuffer } from './kernel-buffer.ts';
import { Kernels } from './loader.ts';

export type RowFieldKind = keyof typeof ROW_KINDS;

/** A field of a block; `name` ends with `=`. */
export type RowField = { readonly name: Uint8Array; readonly kind: RowFieldKind };

/**
 * Why a run stopped: at the end of the body; at an unknown series without the expected shape; at a
 * line with other fields or in another form; or because the columns are full.
 */
export type RowStop = Exclude<keyof typeof ROW_STOPS, 'no-memory'>;

const STOPS = new Map<number, RowStop>(
  (['end', 'new-series', 'other', 'full'] as const).map((stop) => [ROW_STOPS[stop], stop]),
);

// Rows per run: enough for most bodies, and small enough that a column stays in the processor's
// caches.
const ROWS_MAX = 65_536;
/** Values per run, 8 bytes each. */
const CELLS_MAX = 1 << 20;
const ROWS_MIN = 64;

/**
 * Reads one body at a time. Views are valid until the next call of a method that is not a getter.
 */
export class RowScanner {
  readonly #kernels: Kernels;
  readonly #body: KernelBuffer;
  readonly #block: KernelBuffer;
  readonly #shape: KernelBuffer;
  #sizeBytes = 0;

  constructor(kernels: Kernels = new Kernels()) {
    this.#kernels = kernels;
    this.#body = new KernelBuffer(kernels);
    this.#block = new KernelBuffer(kernels);
    this.#shape = new KernelBuffer(kernels);
    writeDecimalPowers(kernels);
    this.forgetSeries();
  }

  /** Removes all series and the expected shape. Numbers of series start at 0 again. */
  forgetSeries(): void {
    this.#kernels.exports.clearRowSeries();
  }

  /**
   * Copies a body to linear memory. Times have the unit `unitNanos`; lines without a time get
   * `nowNanos`.
   */
  open(body: Uint8Array, times: { readonly unitNanos: bigint; readonly nowNanos: bigint }): void {
    const { exports } = this.#kernels;
    this.#sizeBytes = body.length;
    const address = this.#body.reserve(body.length + BODY_SLACK_BYTES);
    exports.openRows(address, body.length);
    this.#kernels.bytes.set(body, address);
    exports.setTimes(times.unitNanos, times.nowNanos);
  }

  /** Sets the fields of the lines that follow. Call it when all rows have been taken. */
  beginBlock(fields: readonly RowField[]): void {
    const { exports } = this.#kernels;
    assert(fields.length > 0, 'a line has fields');
    // Each line has at least its names, a value and a separator per field, and a series.
    const padded = fields.map(({ name }) => (name.length + 7) & ~7);
    const nameBytes = padded.reduce((sum, length) => sum + length, 0);
    const lineBytes = fields.reduce((sum, { name }) => sum + name.length + 2, 2);
    const possible = Math.ceil((this.#sizeBytes - this.cursor) / lineBytes) + 1;
    const room = Math.max(ROWS_MIN, Math.floor(CELLS_MAX / fields.length));
    const capacity = Math.min(ROWS_MAX, room, possible);
    const sizeBytes = exports.rowBlockBytes(fields.length, nameBytes, capacity) >>> 0;
    const block = this.#block.reserve(sizeBytes);
    let address = exports.beginRowBlock(block, fields.length, nameBytes, capacity) >>> 0;
    const { bytes } = this.#kernels;
    for (const [i, { name, kind }] of fields.entries()) {
      bytes.set(name, address);
      exports.setRowField(i, address, name.length, ROW_KINDS[kind]);
      address += padded[i] ?? 0;
    }
  }

  /** Reads lines at the cursor. Their rows follow those that have not been taken yet. */
  run(): RowStop {
    const stop = STOPS.get(this.#kernels.exports.runRows());
    if (stop === undefined) throw outOfMemory(0);
    return stop;
  }

  /** Number of rows. They have to be taken with `take` before the columns are full. */
  get rowCount(): number {
    return this.#kernels.exports.getRowCount();
  }

  /** Removes the rows, after the caller has copied them. */
  take(): void {
    this.#kernels.exports.takeRows();
  }

  /** Times in nanoseconds. A view. */
  get times(): BigInt64Array {
    const address = this.#kernels.exports.getRowTimes() >>> 0;
    return new BigInt64Array(this.#kernels.buffer, address, this.rowCount);
  }

  /** For each row the index of its series in `writeSeries`. A view. */
  get seriesOfRow(): Uint32Array {
    const address = this.#kernels.exports.getRowSeries() >>> 0;
    return new Uint32Array(this.#kernels.buffer, address, this.rowCount);
  }

  /** Values of a float field. A view. */
  floats(field: number): Float64Array {
    return new Float64Array(this.#kernels.buffer, this.#column(field), this.rowCount);
  }

  /** Values of an integer field. A view. */
  integers(field: number): BigInt64Array {
    return new BigInt64Array(this.#kernels.buffer, this.#column(field), this.rowCount);
  }

  /**
   * Two numbers per row: for a boolean field 0 or 1, then an unused one; for a string field its
   * start and end in the body, without the quotes. A view.
   */
  pairs(field: number): Uint32Array {
    return new Uint32Array(this.#kernels.buffer, this.#column(field), this.rowCount * 2);
  }

  /** Offset in the body of the next line. */
  get cursor(): number {
    return this.#kernels.exports.getRowCursor() >>> 0;
  }

  set cursor(offset: number) {
    this.#kernels.exports.setRowCursor(offset);
  }

  /** Range in the body of the unknown key, after a run stopped with `new-series`. */
  get newSeries(): { readonly start: number; readonly end: number } {
    const { exports } = this.#kernels;
    return { start: exports.getRowKeyStart() >>> 0, end: exports.getRowKeyEnd() >>> 0 };
  }

  /** Offset of the space after the key of the line at the cursor; -1 when the key is not plain. */
  plainKeyEnd(): number {
    const end = this.#kernels.exports.plainKeyEnd();
    return end === 0 ? -1 : end >>> 0;
  }

  /** Adds a series with the key `body[start, end)`, which must be new. Returns its number. */
  addSeries(start: number, end: number): number {
    const entry = this.#kernels.exports.addRowSeries(start, end);
    if (entry < 0) throw outOfMemory(end - start);
    return entry;
  }

  /**
   * Sets the expected shape of new keys: the bytes before each tag value, measurement included.
   * Runs add such series without stopping.
   */
  expectKeys(parts: readonly Uint8Array[]): void {
    const { exports } = this.#kernels;
    const textBytes = parts.reduce((sum, part) => sum + ((part.length + 7) & ~7), 0);
    // If `reserve` fails, a shape without parts remains, which no key has.
    exports.beginRowShape(0, 0);
    const room = this.#shape.reserve(exports.rowShapeBytes(parts.length, textBytes) >>> 0);
    let address = exports.beginRowShape(room, parts.length) >>> 0;
    const { bytes } = this.#kernels;
    for (const [i, part] of parts.entries()) {
      bytes.set(part, address);
      exports.setRowShapePart(i, address, part.length);
      address += (part.length + 7) & ~7;
    }
  }

  /**
   * Adds a series with the key `body[start, end)`, which must be new, if it has the expected shape.
   * Returns whether it has.
   */
  readSeries(start: number, end: number): boolean {
    const entry = this.#kernels.exports.readRowSeries(start, end);
    if (entry === -2) throw outOfMemory(end - start);
    return entry >= 0;
  }

  /** Number of series that were added. */
  get seriesCount(): number {
    return this.#kernels.exports.getRowSeriesCount();
  }

  /** Tag values, one after another, of all added series of the expected shape. ASCII. A view. */
  get newValues(): Uint8Array {
    const { exports } = this.#kernels;
    const address = exports.getRowValues() >>> 0;
    return new Uint8Array(this.#kernels.buffer, address, exports.getRowValueBytes());
  }

  get newValueCount(): number {
    return this.#kernels.exports.getRowValueCount();
  }

  /** End of each of these values. A view. */
  get newValueEnds(): Uint32Array {
    const { exports } = this.#kernels;
    return new Uint32Array(
      this.#kernels.buffer,
      exports.getRowValueEnds() >>> 0,
      exports.getRowValueCount(),
    );
  }

  /** Removes the values, after the caller has copied them. */
  takeValues(): void {
    this.#kernels.exports.takeRowValues();
  }

  /**
   * Index in `writeSeries` of the series with the key `body[start, end)`; -1 when it is unknown.
   */
  seriesIndex(start: number, end: number): number {
    return this.#kernels.exports.rowSeriesIndex(start, end);
  }

  /** Numbers of the series in this body, in the order of their first rows. A view. */
  get writeSeries(): Uint32Array {
    const { exports } = this.#kernels;
    const count = exports.getWriteSeriesCount();
    return new Uint32Array(this.#kernels.buffer, exports.getWriteSeries() >>> 0, count);
  }

  #column(field: number): number {
    return this.#kernels.exports.getRowColumn(field) >>> 0;
  }
}

function outOfMemory(bytes: number): Unavailable {
  return new Unavailable(`kernel memory is exhausted. bytes=${bytes}`);
}
