// Log records of batches (docs/formats/batch-record.md): the structure around sections that kernels encode.
import { CodecError, checkResult } from './codec-error.ts';
import type { IngestHost } from './ingest-types.ts';
import type { Kernels } from './loader.ts';
import { checkAddress } from './memtables.ts';
import type { Memtables } from './memtables.ts';
import type { Names } from './names.ts';

const RECORD_VERSION = 1;
const SCRATCH_INPUT = 0;
const SCRATCH_OUTPUT = 1;
const SCRATCH_REFERENCES = 7;

/** What kernels, names and memtables a record is written from or read into. */
export type RecordContext = {
  readonly kernels: Kernels;
  readonly names: Names;
  readonly memtables: Memtables;
};

/** Rows [fromRow, toRow) of the table at an address in linear memory. */
export type RecordTable = {
  readonly address: number;
  readonly fromRow: number;
  readonly toRow: number;
};

/** Encodes series [firstSeriesId, firstSeriesId + newSeriesCount) and the rows of `tables`. */
export function encodeRecord(
  context: RecordContext,
  series: { readonly firstSeriesId: number; readonly newSeriesCount: number },
  tables: readonly RecordTable[],
): Uint8Array {
  const out = new ByteWriter();
  out.byte(RECORD_VERSION);
  out.varint(series.firstSeriesId);
  out.section(encodeKeys(context.kernels, series.firstSeriesId, series.newSeriesCount));
  out.varint(tables.length);
  for (const table of tables) encodeTable(context, table, out);
  return out.finish();
}

function encodeKeys(kernels: Kernels, first: number, count: number): Uint8Array {
  const { exports } = kernels;
  const references = kernels.scratch(SCRATCH_REFERENCES, count * 8);
  const table = new Uint32Array(kernels.buffer, references, count * 2);
  let keyBytes = 0;
  for (let i = 0; i < count; i++) {
    const length = exports.seriesKeyLength(first + i);
    table[2 * i] = exports.seriesKey(first + i);
    table[2 * i + 1] = length;
    keyBytes += length;
  }
  const size = checkResult(exports.encodeKeys(references, count, keyBytes), 'series keys');
  return outputView(kernels, size);
}

function encodeTable(context: RecordContext, table: RecordTable, out: ByteWriter): void {
  const { kernels, names } = context;
  const { exports } = kernels;
  const { address, fromRow, toRow } = table;
  const measurement = exports.tableMeasurement(address);
  out.varint(exports.tableShard(address));
  out.section(names.measurementBytes(measurement));
  const headsSize = checkAddress(exports.encodeRowHeads(address, fromRow, toRow));
  out.section(outputView(kernels, headsSize));
  const columnCount = exports.tableColumns(address);
  const countAt = out.reserveByteCount();
  let written = 0;
  for (let i = 0; i < columnCount; i++) {
    const size = checkResult(exports.encodeColumnRows(address, i, fromRow, toRow), 'column');
    // A column without values in these rows is left out.
    if (size === 0) continue;
    out.section(names.fieldBytes(measurement, exports.columnField(address, i)));
    out.byte(exports.columnType(address, i));
    out.section(outputView(kernels, size));
    written++;
  }
  out.patchCount(countAt, written);
}

function outputView(kernels: Kernels, sizeBytes: number): Uint8Array {
  const start = kernels.scratch(SCRATCH_OUTPUT, 0);
  return kernels.bytes.subarray(start, start + sizeBytes);
}

/** Appends a record's series and the rows of wanted shards; returns rows and values appended. */
export function decodeRecord(
  context: RecordContext,
  record: Uint8Array,
  options: {
    readonly host: Pick<IngestHost, 'fieldTypes'>;
    readonly isWanted: (shardId: number) => boolean;
    /** Called before rows are appended to a table. */
    readonly onTable: (address: number) => void;
  },
): { readonly rowCount: number; readonly valueCount: number } {
  const input = new ByteReader(record);
  if (input.byte() !== RECORD_VERSION) throw new CodecError('encoding', 'batch record');
  const firstSeriesId = input.varint();
  insertKeys(context.kernels, input.section(), firstSeriesId);
  const total = { rowCount: 0, valueCount: 0 };
  const tableCount = input.varint();
  for (let i = 0; i < tableCount; i++) {
    const shardId = input.varint();
    const name = input.section();
    const heads = input.section();
    const isWanted = options.isWanted(shardId);
    let address = 0;
    let rows = 0;
    if (isWanted) {
      const measurement = context.names.measurementNumber(name);
      address = context.memtables.ensureTable(shardId, measurement, options.host);
      options.onTable(address);
      rows = decodeHeads(context.kernels, address, heads);
      total.rowCount += rows;
    }
    const columnCount = input.fixedCount();
    for (let k = 0; k < columnCount; k++) {
      const column = { name: input.section(), type: input.byte(), section: input.section() };
      if (isWanted) total.valueCount += decodeColumn(context, { address, rows }, column);
    }
  }
  if (!input.isAtEnd()) throw new CodecError('value', 'batch record');
  return total;
}

function copyIn(kernels: Kernels, bytes: Uint8Array): number {
  const address = kernels.scratch(SCRATCH_INPUT, bytes.length);
  kernels.bytes.set(bytes, address);
  return address;
}

function insertKeys(kernels: Kernels, section: Uint8Array, firstSeriesId: number): void {
  const address = copyIn(kernels, section);
  checkResult(
    kernels.exports.insertKeyBlock(address, section.length, firstSeriesId),
    'series keys',
  );
}

function decodeHeads(kernels: Kernels, table: number, section: Uint8Array): number {
  const address = copyIn(kernels, section);
  return checkResult(kernels.exports.decodeRowHeads(table, address, section.length), 'rows');
}

function decodeColumn(
  context: RecordContext,
  rows: { readonly address: number; readonly rows: number },
  column: { readonly name: Uint8Array; readonly type: number; readonly section: Uint8Array },
): number {
  const { kernels, names } = context;
  const { exports } = kernels;
  const measurement = exports.tableMeasurement(rows.address);
  if (column.type > MAX_TYPE) throw new CodecError('encoding', 'column type');
  const field = names.fieldNumber(measurement, column.name);
  const present = exports.columnOf(rows.address, field);
  const address = checkAddress(
    present === 0 ? exports.addColumn(rows.address, field, column.type) : present,
  );
  // The first word of a column in linear memory is its type.
  if (new DataView(kernels.buffer).getUint32(address, true) !== column.type) {
    throw new CodecError('value', 'column type');
  }
  const source = copyIn(kernels, column.section);
  const size = column.section.length;
  return checkResult(
    exports.decodeColumnRows(rows.address, address, source, size, rows.rows),
    'column',
  );
}

const MAX_TYPE = 4;
const COUNT_BYTES = 4;

/** Grows a buffer; sections are copied at once, so that views into linear memory may be given. */
class ByteWriter {
  #bytes = new Uint8Array(4096);
  #length = 0;

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  section(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Leaves room for a count of four bytes that is known later. */
  reserveByteCount(): number {
    this.#reserve(COUNT_BYTES);
    const position = this.#length;
    this.#length += COUNT_BYTES;
    return position;
  }

  patchCount(position: number, count: number): void {
    new DataView(this.#bytes.buffer).setUint32(position, count, true);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + size));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Reads what `ByteWriter` wrote; throws `CodecError` instead of passing the end. */
class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    const byte = this.#bytes[this.#position++];
    if (byte === undefined) throw new CodecError('truncated', 'batch record');
    return byte;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 5; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > 0xffffffff) break;
        return value;
      }
      scale *= 128;
    }
    throw new CodecError('value', 'batch record');
  }

  section(): Uint8Array {
    const size = this.varint();
    const start = this.#position;
    if (size > this.#bytes.length - start) throw new CodecError('truncated', 'batch record');
    this.#position = start + size;
    return this.#bytes.subarray(start, this.#position);
  }

  fixedCount(): number {
    let value = 0;
    for (let i = 0; i < COUNT_BYTES; i++) value += this.byte() * 256 ** i;
    return value;
  }

  isAtEnd(): boolean {
    return this.#position === this.#bytes.length;
  }
}
