// Log records as values, and their bytes (docs/formats/wal.md).
import { unreachable } from '@tidemark/core';
import type { FieldType, TimeRange } from '@tidemark/core';
import { compressSync, uncompressSync } from 'lz4-napi';

import { ByteReader, ByteWriter, DecodeError } from '../bytes.ts';
import {
  decodeBits,
  decodeIds,
  decodeTimes,
  decodeValues,
  encodeBits,
  encodeIds,
  encodeTimes,
  encodeValues,
} from '../codecs.ts';
import { copyValues, Table } from '../memtable/table.ts';
import type { FieldArray, TableColumn } from '../memtable/table.ts';
import type { SeriesId, TagPair } from '../series/series-index.ts';
import type { ShardDescriptor } from '../shard/shard.ts';

export type NewSeries = { readonly measurementId: number; readonly tags: readonly TagPair[] };

/** Index entries that the record's rows or deletes may refer to; ids count up from the first. */
export type IndexAdditions = {
  readonly firstMeasurementId: number;
  readonly measurements: readonly string[];
  readonly firstSeriesId: SeriesId;
  readonly series: readonly NewSeries[];
};

/** A database of which everything was dropped comes back under the same name with another `instance`. */
export type DatabaseRef = { readonly name: string; readonly instance: number };

export type RowsRecord = {
  readonly kind: 'rows';
  readonly database: DatabaseRef;
  readonly additions: IndexAdditions;
  readonly parts: readonly {
    readonly shard: ShardDescriptor;
    readonly tables: readonly Table[];
  }[];
};

/** Rows of one measurement that a delete covers; `series` undefined = all of them. */
export type DeletedRows = {
  readonly measurementId: number;
  readonly series: Uint32Array | undefined;
};

export type DeleteRecord = {
  readonly kind: 'delete';
  readonly database: DatabaseRef;
  readonly shardIds: readonly number[];
  readonly timeRange: TimeRange;
  readonly rows: readonly DeletedRows[];
  /** DROP MEASUREMENT: field types are free again. */
  readonly freesTypes: boolean;
};

/** Shards that are dropped whole. */
export type DropRecord = { readonly kind: 'drop'; readonly shardIds: readonly number[] };

export type WalRecord = RowsRecord | DeleteRecord | DropRecord;

const KINDS: readonly WalRecord['kind'][] = ['rows', 'delete', 'drop'];
const TYPES: readonly FieldType[] = ['float', 'integer', 'unsigned', 'string', 'boolean'];

export function encodeRecord(record: WalRecord): Uint8Array {
  const body = new ByteWriter(1 << 12);
  switch (record.kind) {
    case 'rows':
      encodeRows(record, body);
      break;
    case 'delete':
      encodeDelete(record, body);
      break;
    case 'drop':
      encodeIdList(record.shardIds, body);
      break;
    default:
      unreachable(record);
  }
  const plain = body.finish();
  const out = new ByteWriter(plain.length + 16);
  out.u8(KINDS.indexOf(record.kind));
  out.varint(plain.length);
  out.raw(compressSync(Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength)));
  return out.finish();
}

/** Throws `DecodeError` for anything that `encodeRecord` did not write. */
export function decodeRecord(bytes: Uint8Array): WalRecord {
  const head = new ByteReader(bytes);
  const kind = KINDS[head.u8()];
  const length = head.varint();
  const reader = new ByteReader(decompress(head.raw(head.remaining), length));
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

function decompress(bytes: Uint8Array, length: number): Uint8Array {
  let plain: Uint8Array;
  try {
    plain = uncompressSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (cause) {
    // The library has no error classes; whatever it says, the bytes are not LZ4.
    throw new DecodeError('block can not be decompressed', { cause });
  }
  if (plain.length !== length) throw new DecodeError('block has another length');
  return plain;
}

function encodeRows(record: RowsRecord, out: ByteWriter): void {
  const { additions } = record;
  encodeDatabase(record.database, out);
  out.varint(additions.firstMeasurementId);
  out.varint(additions.measurements.length);
  for (const name of additions.measurements) out.text(name);
  out.varint(additions.firstSeriesId);
  out.varint(additions.series.length);
  for (const { measurementId, tags } of additions.series) {
    out.varint(measurementId);
    out.varint(tags.length);
    for (const [key, value] of tags) {
      out.text(key);
      out.text(value);
    }
  }
  out.varint(record.parts.length);
  for (const { shard, tables } of record.parts) {
    encodeShard(shard, out);
    out.varint(tables.length);
    for (const table of tables) encodeTable(table, out);
  }
}

function decodeRows(reader: ByteReader): RowsRecord {
  const database = decodeDatabase(reader);
  const firstMeasurementId = reader.varint();
  const measurements: string[] = [];
  for (let n = reader.count(); n > 0; n--) measurements.push(reader.text());
  const firstSeriesId = reader.varint();
  const series: NewSeries[] = [];
  for (let n = reader.count(2); n > 0; n--) {
    const measurementId = reader.varint();
    const tags: TagPair[] = [];
    for (let m = reader.count(2); m > 0; m--) tags.push([reader.text(), reader.text()]);
    series.push({ measurementId, tags });
  }
  const parts: { shard: ShardDescriptor; tables: Table[] }[] = [];
  for (let n = reader.count(); n > 0; n--) {
    const shard = decodeShard(reader);
    const tables: Table[] = [];
    for (let m = reader.count(); m > 0; m--) tables.push(decodeTable(reader));
    parts.push({ shard, tables });
  }
  const additions = { firstMeasurementId, measurements, firstSeriesId, series };
  return { kind: 'rows', database, additions, parts };
}

function encodeShard(shard: ShardDescriptor, out: ByteWriter): void {
  out.varint(shard.id);
  out.varint(shard.policyId);
  out.text(shard.database);
  out.text(shard.retentionPolicy);
  out.i64(shard.start);
  // The end of the last shard does not fit; its last nanosecond does.
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

function encodeTable(table: Table, out: ByteWriter): void {
  const { rows } = table;
  out.varint(table.measurementId);
  out.varint(rows);
  encodeIds(table.series.subarray(0, rows), out);
  encodeTimes(table.times.subarray(0, rows), out);
  out.varint(table.columns.length);
  for (const column of table.columns) {
    out.text(column.name);
    out.u8(TYPES.indexOf(column.type));
    out.u8(column.valid === undefined ? 0 : 1);
    if (column.valid !== undefined) encodeBits(column.valid.subarray(0, rows), out);
    const values = column.values.subarray(0, rows);
    encodeValues({ type: column.type, values, dictionary: column.pool?.texts }, out);
  }
}

function decodeTable(reader: ByteReader): Table {
  const measurementId = reader.varint();
  const rows = reader.count(12);
  const table = new Table(measurementId, Math.max(rows, 1));
  const series = decodeIds(reader, rows);
  const times = decodeTimes(reader, rows);
  for (let row = 0; row < rows; row++) table.addRow(series[row]!, times[row]!);
  for (let n = reader.count(); n > 0; n--) {
    const name = reader.text();
    const type = TYPES[reader.u8()];
    if (type === undefined) throw new DecodeError('unknown field type');
    const valid = reader.u8() === 1 ? decodeBits(reader, rows) : undefined;
    const plain = decodeValues(type, reader, rows);
    const column = table.columns[table.addColumn(name, type)]!;
    column.valid = valid;
    fillColumn(column, plain.values, plain.dictionary);
  }
  return table;
}

function fillColumn(
  column: TableColumn,
  values: FieldArray,
  dictionary: readonly string[] | undefined,
): void {
  if (column.pool === undefined || dictionary === undefined) {
    copyValues(column.values, values, 0);
    return;
  }
  const { pool } = column;
  const codes = Uint32Array.from(dictionary, (text) => pool.code(text));
  for (let i = 0; i < values.length; i++) column.values[i] = codes[Number(values[i])] ?? 0;
}

function encodeDelete(record: DeleteRecord, out: ByteWriter): void {
  encodeDatabase(record.database, out);
  encodeIdList(record.shardIds, out);
  out.i64(record.timeRange.start);
  out.i64(record.timeRange.end);
  out.u8(record.freesTypes ? 1 : 0);
  out.varint(record.rows.length);
  for (const { measurementId, series } of record.rows) {
    out.varint(measurementId);
    out.u8(series === undefined ? 0 : 1);
    if (series === undefined) continue;
    out.varint(series.length);
    encodeIds(series, out);
  }
}

function decodeDelete(reader: ByteReader): DeleteRecord {
  const database = decodeDatabase(reader);
  const shardIds = decodeIdList(reader);
  const timeRange = { start: reader.i64(), end: reader.i64() };
  const freesTypes = reader.u8() === 1;
  const rows: DeletedRows[] = [];
  for (let n = reader.count(2); n > 0; n--) {
    const measurementId = reader.varint();
    const series = reader.u8() === 0 ? undefined : decodeIds(reader, reader.count(4));
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
