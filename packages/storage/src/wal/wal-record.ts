// Log records as values, and their bytes (docs/formats/wal.md).
import { columnLength, FIELD_TYPES, unreachable, withEmptyTexts } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import type { StagedTable } from '@tidemark/kernels';
import type { ShardDescriptor } from '@tidemark/storage-api';

import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import { codecs, decoding } from '../columns/codecs.ts';
import { RowBlock } from '../columns/row-block.ts';
import { timeBoundsOf } from '../columns/row-order.ts';
import { columnOf } from '../columns/run.ts';
import { decodeAdditions, encodeAdditions } from '../series/index-additions.ts';
import type { IndexAdditions } from '../series/index-additions.ts';
import { fillFrame, FRAME_BYTES } from '../disk/frames.ts';

/**
 * A database that comes back after everything in it was dropped has the same name, but another
 * `instance`.
 */
export type DatabaseRef = { readonly name: string; readonly instance: number };

export type RowsRecord = {
  readonly kind: 'rows';
  readonly database: DatabaseRef;
  readonly additions: IndexAdditions;
  readonly parts: readonly {
    readonly shard: ShardDescriptor;
    readonly tables: readonly RowBlock[];
    /** Their rows as `encodeTable` writes them, when that was done already. */
    readonly encoded?: readonly EncodedTables[] | undefined;
  }[];
};

/** Tables of a record, one after the other. */
export type EncodedTables = { readonly count: number; readonly bytes: Uint8Array };

/** Rows of one measurement that a delete covers; `series` undefined = all of them. */
export type DeletedRows = {
  readonly measurementId: number;
  readonly series: Uint32Array | undefined;
};

/** The rows of a delete as its record has them. They can be encoded in steps. */
export class EncodedRows {
  readonly #out = new ByteWriter();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#out.length;
  }

  add({ measurementId, series }: DeletedRows): void {
    this.#count++;
    this.#out.varint(measurementId);
    this.#out.u8(series === undefined ? 0 : 1);
    if (series !== undefined) this.#out.block(codecs().encodeIds(series));
  }

  /** Hands out the bytes. Only once, after all rows were added. */
  finish(): Uint8Array {
    return this.#out.finish();
  }
}

export type DeleteRecord = {
  readonly kind: 'delete';
  readonly database: DatabaseRef;
  readonly shardIds: readonly number[];
  readonly timeRange: TimeRange;
  readonly rows: readonly DeletedRows[];
  /** The same rows, in as many parts as they were selected in, when they are encoded already. */
  readonly encodedRows?: EncodedRows | undefined;
  /** DROP MEASUREMENT: field types are free again. */
  readonly freesTypes: boolean;
};

/** Shards that are dropped whole. */
export type DropRecord = { readonly kind: 'drop'; readonly shardIds: readonly number[] };

export type WalRecord = RowsRecord | DeleteRecord | DropRecord;

const KINDS: readonly WalRecord['kind'][] = ['rows', 'delete', 'drop'];

/** The bytes of a record with its frame, as they are written to the log. */
export function encodeFramed(record: WalRecord): Uint8Array {
  const out = new ByteWriter(capacityFor(record));
  out.skip(FRAME_BYTES);
  out.u8(KINDS.indexOf(record.kind));
  switch (record.kind) {
    case 'rows':
      encodeRows(record, out);
      break;
    case 'delete':
      encodeDelete(record, out);
      break;
    case 'drop':
      encodeIdList(record.shardIds, out);
      break;
    default:
      unreachable(record);
  }
  const framed = out.finish();
  fillFrame(framed);
  return framed;
}

/** For names, ids and times. */
const OTHER_BYTES = 256;

/** A capacity that is enough for most records: growing would copy what was written so far. */
function capacityFor(record: WalRecord): number {
  let bytes = OTHER_BYTES;
  if (record.kind === 'delete') return bytes + (record.encodedRows?.byteLength ?? 0);
  if (record.kind === 'drop') return bytes;
  bytes += record.additions.series.bytes.length;
  for (const { encoded = [] } of record.parts) for (const one of encoded) bytes += one.bytes.length;
  return bytes;
}

/** Throws `DecodeError` for anything that `encodeRecord` did not write. */
export function decodeRecord(bytes: Uint8Array): WalRecord {
  const reader = new ByteReader(bytes);
  const kind = KINDS[reader.u8()];
  switch (kind) {
    case 'rows':
      return decodeRows(reader);
    case 'delete':
      return decodeDelete(reader);
    case 'drop':
      return { kind, shardIds: decodeIdList(reader) };
    case undefined:
      throw new DecodeError('unknown kind of record');
    default:
      return unreachable(kind);
  }
}

/**
 * The database that a record begins with; `undefined` for kinds that name none. Throws
 * `DecodeError`.
 */
export function decodeOwner(bytes: Uint8Array): DatabaseRef | undefined {
  const reader = new ByteReader(bytes);
  const kind = KINDS[reader.u8()];
  return kind === 'rows' || kind === 'delete' ? decodeDatabase(reader) : undefined;
}

function encodeRows(record: RowsRecord, out: ByteWriter): void {
  encodeDatabase(record.database, out);
  encodeAdditions(record.additions, out);
  out.varint(record.parts.length);
  for (const { shard, tables, encoded } of record.parts) {
    encodeShard(shard, out);
    out.varint(encoded?.reduce((sum, { count }) => sum + count, 0) ?? tables.length);
    if (encoded === undefined) for (const table of tables) encodeTable(table, out);
    else for (const { bytes } of encoded) out.raw(bytes);
  }
}

function decodeRows(reader: ByteReader): RowsRecord {
  const database = decodeDatabase(reader);
  const additions = decodeAdditions(reader);
  const parts: { shard: ShardDescriptor; tables: RowBlock[] }[] = [];
  for (let n = reader.count(); n > 0; n--) {
    const shard = decodeShard(reader);
    const tables: RowBlock[] = [];
    for (let m = reader.count(); m > 0; m--) tables.push(decodeTable(reader));
    parts.push({ shard, tables });
  }
  return { kind: 'rows', database, additions, parts };
}

function encodeShard(shard: ShardDescriptor, out: ByteWriter): void {
  out.varint(shard.id);
  out.varint(shard.policyId);
  out.text(shard.database);
  out.text(shard.retentionPolicy);
  out.i64(shard.start);
  // The exclusive end of the last possible shard does not fit into int64; its last time does.
  out.i64(shard.end - 1n);
}

function decodeShard(reader: ByteReader): ShardDescriptor {
  return {
    id: reader.varint(),
    policyId: reader.varint(),
    database: reader.text(),
    retentionPolicy: reader.text(),
    start: reader.i64(),
    end: reader.i64() + 1n,
  };
}

function encodeTable(table: RowBlock, out: ByteWriter): void {
  const { rows } = table;
  out.varint(table.measurementId);
  out.varint(rows);
  out.block(codecs().encodeIds(table.series.subarray(0, rows)));
  out.block(codecs().encodeTimes(table.times.subarray(0, rows)));
  out.varint(table.columns.length);
  for (const column of table.columns) {
    out.text(column.name);
    out.u8(FIELD_TYPES.indexOf(column.type));
    out.u8(column.valid === undefined ? 0 : 1);
    if (column.valid !== undefined) {
      out.block(codecs().encodeValidity(column.valid.subarray(0, rows)));
    }
    const values = column.values.subarray(0, rows) as typeof column.values;
    const texts = column.texts?.texts;
    const all = columnOf(column.type, { values, valid: column.valid, texts });
    out.block(codecs().encodeColumn(all.type === 'string' ? withEmptyTexts(all) : all));
  }
}

/**
 * Rows of a sparse table are encoded as tables of this many: most columns then have one value, and
 * their rows are few.
 */
const SPARSE_ROWS = 64;

/**
 * As `encodeTable`, directly from the linear memory into which the rows were parsed. The initial
 * capacity is the size of the last batch, since batches are much alike.
 */
export function encodeStagedTable(
  table: StagedTable,
  measurementId: number,
  expectedBytes: number,
): EncodedTables {
  const out = new ByteWriter(Math.max(OTHER_BYTES, expectedBytes));
  const step = table.isSparse ? SPARSE_ROWS : table.rowCount;
  let count = 0;
  for (let from = 0; from < table.rowCount; from += step, count++) {
    const rows = { from, to: Math.min(from + step, table.rowCount) };
    out.varint(measurementId);
    out.varint(rows.to - from);
    out.block(table.encodeSeriesIds(rows));
    out.block(table.encodeTimes(rows));
    if (table.isSparse) table.encodeColumns(rows, (bytes) => out.raw(bytes));
    else encodeStagedColumns(table, out);
  }
  return { count, bytes: out.finish() };
}

function encodeStagedColumns(table: StagedTable, out: ByteWriter): void {
  out.varint(table.fields.length);
  for (const field of table.fields) {
    out.text(field.name);
    out.u8(FIELD_TYPES.indexOf(field.type));
    out.u8(field.valid === 0 ? 0 : 1);
    if (field.valid !== 0) out.block(table.encodeValidity(field));
    out.block(table.encodeValues(field));
  }
}

function decodeTable(reader: ByteReader): RowBlock {
  const measurementId = reader.varint();
  const rows = reader.varint();
  const series = decoding((c) => c.decodeIds(reader.block()));
  const times = decoding((c) => c.decodeTimes(reader.block()));
  if (series.length !== rows || times.length !== rows) throw new DecodeError('column length');
  const table = RowBlock.adopt(measurementId, series, times, timeBoundsOf(times));
  for (let n = reader.count(); n > 0; n--) {
    const name = reader.text();
    const type = FIELD_TYPES[reader.u8()];
    if (type === undefined) throw new DecodeError('unknown field type');
    const hasNulls = reader.u8() === 1;
    const valid = hasNulls ? decoding((c) => c.decodeValidity(reader.block())) : undefined;
    const column = decoding((c) => c.decodeColumn(type, reader.block(), valid));
    if (columnLength(column) !== rows || (valid !== undefined && valid.length !== rows)) {
      throw new DecodeError('column length');
    }
    table.setColumn(name, column);
  }
  return table;
}

function encodeDelete(record: DeleteRecord, out: ByteWriter): void {
  encodeDatabase(record.database, out);
  encodeIdList(record.shardIds, out);
  out.i64(record.timeRange.start);
  out.i64(record.timeRange.end);
  out.u8(record.freesTypes ? 1 : 0);
  const rows = record.encodedRows ?? encodedRows(record.rows);
  out.varint(rows.count);
  out.raw(rows.finish());
}

function encodedRows(rows: readonly DeletedRows[]): EncodedRows {
  const encoded = new EncodedRows();
  for (const one of rows) encoded.add(one);
  return encoded;
}

function decodeDelete(reader: ByteReader): DeleteRecord {
  const database = decodeDatabase(reader);
  const shardIds = decodeIdList(reader);
  const timeRange = { start: reader.i64(), end: reader.i64() };
  const freesTypes = reader.u8() === 1;
  const rows: DeletedRows[] = [];
  for (let n = reader.count(2); n > 0; n--) {
    const measurementId = reader.varint();
    const series = reader.u8() === 0 ? undefined : decoding((c) => c.decodeIds(reader.block()));
    rows.push({ measurementId, series });
  }
  return { kind: 'delete', database, shardIds, timeRange, rows, freesTypes };
}

function encodeDatabase(database: DatabaseRef, out: ByteWriter): void {
  out.text(database.name);
  out.varint(database.instance);
}

function decodeDatabase(reader: ByteReader): DatabaseRef {
  return { name: reader.text(), instance: reader.varint() };
}

function encodeIdList(ids: readonly number[], out: ByteWriter): void {
  out.varint(ids.length);
  for (const id of ids) out.varint(id);
}

function decodeIdList(reader: ByteReader): number[] {
  const ids: number[] = [];
  for (let n = reader.count(); n > 0; n--) ids.push(reader.varint());
  return ids;
}
