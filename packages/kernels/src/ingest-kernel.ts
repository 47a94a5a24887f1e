// The ingest kernel's driver: hands bodies to linear memory and answers what the kernel asks (assembly/ingest.ts).
// Lines that are not plainly right come back and go through the line parser that the caller gave.
import { assert, escapeMeasurement, floorMod, formatSeriesKey, Unavailable } from '@tidemark/core';
import type { FieldType, FieldValue, Timestamp } from '@tidemark/core';
import { decodeRecord, encodeRecord } from './batch-record.ts';
import type { RecordContext, RecordTable } from './batch-record.ts';
import { checkResult, CodecError } from './codec-error.ts';
import { writeDecimalPowers } from './decimal-powers.ts';
import { FIELD_TYPE_CODES } from './field-codes.ts';
import { IngestEvent } from './ingest-events.ts';
import type {
  Batch,
  BatchTable,
  Ingest,
  IngestHost,
  IngestPoint,
  IngestPrecision,
  MemtableId,
  NewField,
  ParseOptions,
  SortedRows,
  TableId,
  TableInfo,
  TableRead,
} from './ingest-types.ts';
import { FIELDS_PER_POINT_MAX, MEMTABLE_BYTES_MAX } from './limits.ts';
import { Kernels } from './loader.ts';
import { columnType, Memtables } from './memtables.ts';
import { Names } from './names.ts';
import { newlineCounter, Refusals } from './refusals.ts';
import type { LinePlace } from './refusals.ts';
import { readTable } from './table-read.ts';

/** A field value as the line parser gives it. */
type LineValue = FieldValue | { readonly unsigned: bigint };

/**
 * Parses one line exactly, with its error: `parseLines` of `@tidemark/line-protocol` fits. It is given the line and
 * the newline behind it, if any.
 */
export type LineParser = (
  line: Uint8Array,
  options: { readonly precision: IngestPrecision; readonly now: Timestamp },
) => {
  readonly points: readonly {
    readonly measurement: string;
    readonly tags: readonly (readonly [string, string])[];
    readonly fields: readonly (readonly [string, LineValue])[];
    readonly time: Timestamp;
  }[];
  readonly errors: readonly { readonly text: string; readonly reason: string }[];
};

export type IngestOptions = {
  readonly parseLine: LineParser;
  /** An instance of its own by default; dropping the `Ingest` then gives the memory back. */
  readonly kernels?: Kernels | undefined;
  /** Keeps clients from choosing keys that collide. */
  readonly hashSeed?: bigint | undefined;
  /** A batch ends early when memtables hold more; see `Batch.consumedBytes`. */
  readonly memtableBytesMax?: number | undefined;
};

/** What undoing a batch needs beside the batch itself. */
type Undo = {
  readonly tables: readonly (RecordTable & { readonly columnsBefore: number })[];
  readonly seriesAfter: number;
};

const SCRATCH_POINT = 21;
const SCRATCH_IDS = 6;
const UNIT_NANOS: Readonly<Record<IngestPrecision, bigint>> = {
  ns: 1n,
  u: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const NO_SERIES = 0xffffffff;
const BEYOND_RETENTION = 'points beyond retention policy';
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** The `Ingest` of one database. */
export class IngestKernel implements Ingest {
  readonly #kernels: Kernels;
  readonly #names: Names;
  readonly #memtables: Memtables;
  readonly #context: RecordContext;
  readonly #parseLine: LineParser;
  readonly #memtableBytesMax: number;
  readonly #undo = new WeakMap<Batch, Undo>();
  readonly #bits = new DataView(new ArrayBuffer(8));

  constructor(options: IngestOptions) {
    this.#kernels = options.kernels ?? new Kernels();
    this.#names = new Names(this.#kernels);
    this.#memtables = new Memtables(this.#kernels, this.#names);
    this.#context = { kernels: this.#kernels, names: this.#names, memtables: this.#memtables };
    this.#parseLine = options.parseLine;
    this.#memtableBytesMax = options.memtableBytesMax ?? MEMTABLE_BYTES_MAX.value;
    writeDecimalPowers(this.#kernels);
    this.#kernels.exports.setSeriesSeed(BigInt.asIntN(64, options.hashSeed ?? 0n));
  }

  parseLines(body: Uint8Array, options: ParseOptions, host: IngestHost): Batch {
    const { exports } = this.#kernels;
    const from = options.from ?? 0;
    assert(from <= body.length, 'parsing continues within the body');
    const rest = body.subarray(from);
    const address = exports.openBody(rest.length) >>> 0;
    if (address === 0) throw new Unavailable(`kernel memory is exhausted. bytes=${rest.length}`);
    this.#kernels.bytes.set(rest, address);
    const unit = UNIT_NANOS[options.precision];
    exports.setTimes(unit, options.now - floorMod(options.now, unit));
    this.#begin(address, host);
    const refusals = new Refusals(options.isDetailed === true ? newlineCounter(body) : undefined);
    const source = { body: rest, address, from, options };
    for (;;) {
      const event = exports.run();
      if (event === IngestEvent.Done || event === IngestEvent.Full) break;
      if (event === IngestEvent.Line) this.#slowLine(source, refusals);
      else this.#answer(event, host, refusals, () => this.#linePlace(source, refusals));
    }
    const consumed = (exports.getCursor() >>> 0) - address;
    exports.trimScratch(SCRATCH_KEPT_BYTES);
    return this.#finish(refusals, from + Math.min(consumed, rest.length));
  }

  appendPoints(points: readonly IngestPoint[], host: IngestHost): Batch {
    const { exports } = this.#kernels;
    this.#begin(0, host);
    const refusals = new Refusals();
    for (const point of points) {
      if (!this.#stagePoint(point, refusals, undefined)) continue;
      for (;;) {
        const event = exports.runPoint();
        if (event === IngestEvent.Done) break;
        this.#answer(event, host, refusals, () => undefined);
      }
    }
    return this.#finish(refusals, 0);
  }

  encodeBatch(batch: Batch): Uint8Array {
    return encodeRecord(this.#context, batch, this.#undoOf(batch).tables);
  }

  replay(
    record: Uint8Array,
    host: Pick<IngestHost, 'fieldTypes'>,
    isWanted: (shardId: number) => boolean,
  ): Batch {
    const { exports } = this.#kernels;
    const firstSeriesId = exports.nextSeriesId();
    const touched = new Map<number, { address: number; fromRow: number; columnsBefore: number }>();
    const undo = (): void => {
      for (const t of touched.values())
        exports.truncateTable(t.address, t.fromRow, t.columnsBefore);
      exports.truncateSeries(firstSeriesId);
    };
    const onTable = (address: number): void => {
      if (touched.has(address)) return;
      const fromRow = exports.tableRows(address);
      touched.set(address, { address, fromRow, columnsBefore: exports.tableColumns(address) });
    };
    try {
      const { rowCount, valueCount } = decodeRecord(this.#context, record, {
        host,
        isWanted,
        onTable,
      });
      return this.#describe([...touched.values()], {
        ...new Refusals().result(),
        firstSeriesId,
        pointsWritten: rowCount,
        valuesWritten: valueCount,
        consumedBytes: record.length,
      });
    } catch (error) {
      // Half a record is no record: nothing of it stays.
      if (error instanceof CodecError) undo();
      throw error;
    }
  }

  rollback(batch: Batch): void {
    const { exports } = this.#kernels;
    const undo = this.#undoOf(batch);
    assert(exports.nextSeriesId() === undo.seriesAfter, 'only the newest batch is taken back');
    for (const table of undo.tables) {
      assert(
        exports.tableRows(table.address) === table.toRow,
        'only the newest batch is taken back',
      );
      exports.truncateTable(table.address, table.fromRow, table.columnsBefore);
    }
    exports.truncateSeries(batch.firstSeriesId);
    this.#undo.delete(batch);
  }

  get nextSeriesId(): number {
    return this.#kernels.exports.nextSeriesId();
  }

  reserveSeriesIds(nextId: number): void {
    this.#kernels.exports.setNextSeriesId(nextId);
  }

  get seriesCount(): number {
    return this.#kernels.exports.seriesCount();
  }

  seriesKey(id: number): Uint8Array | undefined {
    const { exports } = this.#kernels;
    const start = exports.seriesKey(id) >>> 0;
    if (start === 0) return undefined;
    return this.#kernels.bytes.slice(start, start + exports.seriesKeyLength(id));
  }

  findSeries(key: Uint8Array): number | undefined {
    const { exports } = this.#kernels;
    const address = this.#kernels.scratch(SCRATCH_POINT, key.length);
    this.#kernels.bytes.set(key, address);
    const hash = exports.hashKey(address, key.length);
    const id = exports.findSeries(address, key.length, hash) >>> 0;
    return id === NO_SERIES ? undefined : id;
  }

  loadSeries(ids: Uint32Array, keys: readonly Uint8Array[]): void {
    assert(ids.length === keys.length, 'every id has a key');
    const kernels = this.#kernels;
    let keyBytes = 0;
    for (const key of keys) keyBytes += key.length;
    const input = kernels.scratch(SCRATCH_POINT, keyBytes + ids.length * 8);
    const idsAt = kernels.scratch(SCRATCH_IDS, ids.byteLength);
    const references = new Uint32Array(kernels.buffer, input, ids.length * 2);
    let position = input + ids.length * 8;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      kernels.bytes.set(key, position);
      references[2 * i] = position;
      references[2 * i + 1] = key.length;
      position += key.length;
    }
    new Uint32Array(kernels.buffer, idsAt, ids.length).set(ids);
    checkResult(kernels.exports.insertKeys(input, idsAt, ids.length), 'series');
  }

  removeSeries(ids: Uint32Array): void {
    for (const id of ids) this.#kernels.exports.removeSeries(id);
  }

  activeMemtable(shardId: number): MemtableId | undefined {
    return this.#memtables.active(shardId);
  }

  seal(shardId: number): MemtableId | undefined {
    return this.#memtables.seal(shardId);
  }

  free(memtable: MemtableId): void {
    this.#memtables.free(memtable);
  }

  tables(memtable: MemtableId): readonly TableInfo[] {
    return this.#memtables.tables(memtable);
  }

  read(table: TableId, options?: TableRead): SortedRows {
    return readTable(this.#kernels, this.#names, this.#memtables.tableAddress(table), options);
  }

  get memtableBytes(): number {
    return this.#kernels.exports.arenaBytes() >>> 0;
  }

  get seriesBytes(): number {
    return this.#kernels.exports.seriesMemory() >>> 0;
  }

  get memoryBytes(): number {
    return this.#kernels.memoryBytes;
  }

  #begin(start: number, host: IngestHost): void {
    const asks = host.admitSeries === undefined ? 0 : 1;
    const { oldestAccepted: oldest = INT64_MIN, newestAccepted: newest = INT64_MAX } = host;
    this.#kernels.exports.beginBatch(
      start,
      asks,
      this.#memtableBytesMax,
      oldest < INT64_MIN ? INT64_MIN : oldest,
      newest > INT64_MAX ? INT64_MAX : newest,
    );
  }

  /** Answers an event that concerns the staged point. */
  #answer(event: number, host: IngestHost, refusals: Refusals, place: () => LinePlace): void {
    const { exports } = this.#kernels;
    switch (event) {
      case IngestEvent.Shard: {
        const shard = host.shardFor(exports.getStagedTime());
        if (shard === undefined) {
          refusals.drop('retention', BEYOND_RETENTION, place());
          exports.dropPoint();
          return;
        }
        const time = exports.getStagedTime();
        assert(shard.start <= time, 'the shard of a point starts at or before it');
        assert(time < shard.end, 'the shard of a point ends after it');
        // Bounds of shards may lie outside of int64, times do not.
        const start = shard.start < INT64_MIN ? INT64_MIN : shard.start;
        exports.addShard(shard.id, start, shard.end > INT64_MAX ? INT64_MAX : shard.end);
        return;
      }
      case IngestEvent.Table: {
        const measurement = exports.getStagedMeasurement();
        const shardId = exports.getEventShard();
        // The host may look anything up, but it must not call this Ingest: the point is staged.
        const table = this.#memtables.ensureTable(shardId, measurement, host);
        if (exports.setTable(table) === 0) throw new Unavailable('kernel memory is exhausted');
        return;
      }
      case IngestEvent.Series: {
        const reason = host.admitSeries?.(this.#stagedKey());
        if (reason === undefined) {
          exports.admitSeries();
        } else {
          refusals.drop('series', reason, place());
          exports.dropPoint();
        }
        return;
      }
      case IngestEvent.Retention:
        refusals.drop('retention', BEYOND_RETENTION, place());
        exports.dropPoint();
        return;
      case IngestEvent.Conflict:
        refusals.drop('field', this.#conflictReason(), place());
        return;
      default:
        assert(event === IngestEvent.Memory, 'the kernel stops for a known reason');
        this.rollback(this.#finish(refusals, 0));
        throw new Unavailable('kernel memory is exhausted');
    }
  }

  #stagedKey(): Uint8Array {
    const start = this.#kernels.exports.getStagedKey() >>> 0;
    return this.#kernels.bytes.slice(start, start + this.#kernels.exports.getStagedKeyLength());
  }

  #conflictReason(): string {
    const { exports } = this.#kernels;
    const measurement = exports.getStagedMeasurement();
    const field = this.#names.field(measurement, exports.getEventField());
    const name = this.#names.measurement(measurement);
    const wanted = columnType(exports.getEventNew());
    const present = columnType(exports.getEventOld());
    return `field type conflict: input field "${field}" on measurement "${name}" is type ${wanted}, already exists as type ${present}`;
  }

  /** The line of the staged or just dropped point; `undefined` when nobody asked for lines. */
  #linePlace(source: BodySource, refusals: Refusals): LinePlace {
    if (!refusals.wantsLines) return undefined;
    const { exports } = this.#kernels;
    const start = (exports.getEventStart() >>> 0) - source.address;
    const end = (exports.getCursor() >>> 0) - source.address - 1;
    return {
      start: start + source.from,
      text: this.#names.decode(source.body.subarray(start, end)),
    };
  }

  #slowLine(source: BodySource, refusals: Refusals): void {
    const { exports } = this.#kernels;
    const start = (exports.getEventStart() >>> 0) - source.address;
    const end = (exports.getEventEnd() >>> 0) - source.address;
    if (start === end) return;
    // The newline goes along: rules about the last bytes of a body differ from those within it.
    const parsed = this.#parseLine(source.body.subarray(start, end + 1), source.options);
    assert(
      parsed.points.length + parsed.errors.length <= 1,
      'both line splitters see the same line',
    );
    for (const { text, reason } of parsed.errors) {
      refusals.parseError(reason, { start: start + source.from, text });
    }
    for (const point of parsed.points) {
      this.#stagePoint(point, refusals, this.#linePlace(source, refusals));
    }
  }

  /** Writes a point to linear memory, ready for `run`; false when it was refused. */
  #stagePoint(point: IngestPoint, refusals: Refusals, place: LinePlace): boolean {
    const { measurement, tags } = point;
    if (tags.some(([key]) => key === 'time')) {
      const reason = `invalid tag key: input tag "time" on measurement "${measurement}" is invalid`;
      refusals.drop('time-tag', reason, place);
      return false;
    }
    const fields = point.fields.filter(([name]) => name !== 'time');
    if (fields.length === 0) {
      const reason = `invalid field name: input field "time" on measurement "${measurement}" is invalid`;
      refusals.drop('field', reason, place);
      return false;
    }
    if (fields.length > FIELDS_PER_POINT_MAX.value) {
      const reason = `max fields per point exceeded: ${fields.length} > ${FIELDS_PER_POINT_MAX.value}`;
      refusals.drop('field', reason, place);
      return false;
    }
    const names = this.#names;
    const key = names.encode(formatSeriesKey(measurement, tags));
    const measurementLength = names.encode(escapeMeasurement(measurement)).length;
    const parts = fields.map(([name, value]) => ({
      name: names.encode(name),
      text: typeof value === 'string' ? names.encode(value) : undefined,
      value,
    }));
    let size = key.length;
    for (const part of parts) size += part.name.length + (part.text?.length ?? 0);
    const { exports } = this.#kernels;
    let at = this.#kernels.scratch(SCRATCH_POINT, size);
    const put = (bytes: Uint8Array): number => {
      const start = at;
      // `bytes` is asked for each time: numbering a new name may grow linear memory.
      this.#kernels.bytes.set(bytes, start);
      at += bytes.length;
      return start;
    };
    exports.beginPoint(put(key), key.length, measurementLength);
    for (const { name, text, value } of parts) {
      const type = FIELD_TYPE_CODES[typeOfValue(value)];
      const nameAt = put(name);
      const bits =
        text === undefined ? this.#bitsOf(value) : BigInt(put(text)) | (BigInt(text.length) << 32n);
      exports.addPointField(nameAt, name.length, type, bits);
    }
    exports.finishPoint(point.time);
    return true;
  }

  #bitsOf(value: LineValue): bigint {
    switch (typeof value) {
      case 'number':
        this.#bits.setFloat64(0, value);
        return this.#bits.getBigInt64(0);
      case 'bigint':
        return value;
      case 'boolean':
        return value ? 1n : 0n;
      case 'object':
        return BigInt.asIntN(64, value.unsigned);
      default:
        assert(false, 'strings are passed by reference');
    }
  }

  #finish(refusals: Refusals, consumedBytes: number): Batch {
    const { exports } = this.#kernels;
    const tables: { address: number; fromRow: number; columnsBefore: number }[] = [];
    let table = exports.getBatchTables() >>> 0;
    while (table !== 0) {
      const fromRow = exports.batchRows(table);
      tables.push({ address: table, fromRow, columnsBefore: exports.batchColumns(table) });
      table = exports.batchNext(table) >>> 0;
    }
    return this.#describe(tables.toReversed(), {
      ...refusals.result(),
      firstSeriesId: exports.getBatchFirstSeries(),
      pointsWritten: exports.getBatchPoints(),
      valuesWritten: exports.getBatchValues(),
      consumedBytes,
    });
  }

  #describe(
    touched: readonly { address: number; fromRow: number; columnsBefore: number }[],
    rest: Omit<Batch, 'tables' | 'newFields' | 'newSeriesCount'>,
  ): Batch {
    const { exports } = this.#kernels;
    const tables: BatchTable[] = [];
    const newFields: NewField[] = [];
    const undo: (RecordTable & { columnsBefore: number })[] = [];
    for (const { address, fromRow, columnsBefore } of touched) {
      const toRow = exports.tableRows(address);
      if (toRow === fromRow) continue;
      const number = exports.tableMeasurement(address);
      const measurement = this.#names.measurement(number);
      const shardId = exports.tableShard(address);
      const table = this.#memtables.tableId(address);
      tables.push({ shardId, table, measurement, fromRow, toRow });
      undo.push({ address, fromRow, toRow, columnsBefore });
      for (let i = columnsBefore; i < exports.tableColumns(address); i++) {
        const field = this.#names.field(number, exports.columnField(address, i));
        const type: FieldType = columnType(exports.columnType(address, i));
        newFields.push({ shardId, measurement, field, type });
      }
    }
    const seriesAfter = exports.nextSeriesId();
    const newSeriesCount = seriesAfter - rest.firstSeriesId;
    const batch: Batch = { ...rest, tables, newFields, newSeriesCount };
    this.#undo.set(batch, { tables: undo, seriesAfter });
    return batch;
  }

  #undoOf(batch: Batch): Undo {
    const undo = this.#undo.get(batch);
    assert(undo !== undefined, 'a batch belongs to this Ingest and was not taken back');
    // Throws when a table was freed since: its memory may hold another one by now.
    for (const { table } of batch.tables) this.#memtables.tableAddress(table);
    return undo;
  }
}

type BodySource = {
  readonly body: Uint8Array;
  readonly address: number;
  readonly from: number;
  readonly options: ParseOptions;
};

// A body of 25 MB must not hold as much memory for ever.
const SCRATCH_KEPT_BYTES = 4 << 20;

function typeOfValue(value: LineValue): FieldType {
  switch (typeof value) {
    case 'number':
      return 'float';
    case 'bigint':
      return 'integer';
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'object':
      return 'unsigned';
  }
}
