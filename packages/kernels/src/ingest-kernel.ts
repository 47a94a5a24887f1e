// The ingest kernel: copies bodies to linear memory, runs assembly/ingest.ts, and answers its
// questions. Lines that the kernel does not recognise as correct are returned, and parsed by the
// line parser of the caller.
import {
  assert,
  escapeMeasurement,
  floatBits,
  floorMod,
  formatSeriesKey,
  MAX_INT64,
  MIN_INT64,
  PRECISION_NANOS,
  Unavailable,
} from '@tidemark/core';
import { fieldTypeOf, reportedType } from '@tidemark/core';
import type { FieldValue, Precision, Timestamp, UnsignedValue } from '@tidemark/core';
import { writeDecimalPowers } from './decimal-powers.ts';
import { BODY_SLACK_BYTES, FIELD_TYPES, INGEST_EVENTS } from './abi.gen.ts';
import { columnType } from './field-codes.ts';
import type {
  Batch,
  Ingest,
  IngestHost,
  IngestPoint,
  NewField,
  ParseOptions,
} from './ingest-types.ts';
import { BATCH_BYTES_KEPT, BATCH_BYTES_MAX, FIELDS_PER_POINT_MAX } from './limits.ts';
import { KernelBuffer } from './kernel-buffer.ts';
import type { Kernels } from './loader.ts';
import type { Names } from './names.ts';
import { newlineCounter, Refusals } from './refusals.ts';
import type { LinePlace } from './refusals.ts';
import type { SeriesKeys } from './series-keys.ts';
import { StagedTable } from './staged-table.ts';

/**
 * Parses one line exactly, with its error, as `parseLines` of `@tidemark/line-protocol` does. Its
 * input is the line with the newline after it, if there is one.
 */
export type LineParser = (
  line: Uint8Array,
  options: { readonly precision: Precision; readonly now: Timestamp },
) => {
  readonly points: readonly {
    readonly measurement: string;
    readonly tags: readonly (readonly [string, string])[];
    readonly fields: readonly (readonly [string, FieldValue | UnsignedValue])[];
    readonly time: Timestamp;
  }[];
  readonly errors: readonly { readonly text: string; readonly reason: string }[];
};

export type IngestOptions = {
  readonly parseLine: LineParser;
  /** The series of the database. Rows are kept in the same linear memory. */
  readonly series: SeriesKeys;
  /** A batch ends when its rows take more than this; see `Batch.consumedBytes`. */
  readonly batchBytesMax?: number | undefined;
  /** Points with a longer text are refused; 0 and absent are no limit. */
  readonly textBytesMax?: number | undefined;
  /** Tables whose columns would be mostly empty are sparse (`StagedTable.isSparse`). */
  readonly allowsSparse?: boolean | undefined;
};

const NO_TEXT_LIMIT = 0xffffffff;
const BEYOND_RETENTION = 'points beyond retention policy';

/** Number of cached encoded field names: those of some hundred measurements. */
const ENCODED_NAMES_MAX = 4096;

/**
 * The common part of points of one series. `tags` is compared by identity, because callers do not
 * change it.
 */
type PointHead = {
  readonly measurement: string;
  readonly tags: IngestPoint['tags'];
  readonly hasTimeTag: boolean;
  readonly key: Uint8Array;
  readonly measurementLength: number;
};

/** Implements `Ingest` for one database. */
export class IngestKernel implements Ingest {
  readonly #kernels: Kernels;
  readonly #names: Names;
  readonly #parseLine: LineParser;
  /** The body in linear memory. */
  readonly #body: KernelBuffer;
  /** Key, names and texts of a point of `appendPoints`, until it is appended. */
  readonly #point: KernelBuffer;
  readonly #batchBytesMax: number;
  readonly #textBytesMax: number;
  readonly #allowsSparse: boolean;
  /** Addresses of tables, by shard id and number of the measurement. */
  readonly #tables = new Map<number, Map<number, number>>();
  #mustDrop = false;

  constructor(options: IngestOptions) {
    this.#kernels = options.series.kernels;
    this.#names = options.series.names;
    this.#parseLine = options.parseLine;
    this.#body = new KernelBuffer(this.#kernels);
    this.#point = new KernelBuffer(this.#kernels);
    this.#batchBytesMax = options.batchBytesMax ?? BATCH_BYTES_MAX.value;
    this.#textBytesMax = options.textBytesMax || NO_TEXT_LIMIT;
    this.#allowsSparse = options.allowsSparse === true;
    writeDecimalPowers(this.#kernels);
  }

  parseLines(body: Uint8Array, options: ParseOptions, host: IngestHost): Batch {
    const { exports } = this.#kernels;
    const from = options.from ?? 0;
    assert(from <= body.length, 'parsing continues within the body');
    const rest = body.subarray(from);
    const address = this.#body.reserve(rest.length + BODY_SLACK_BYTES);
    exports.openLines(address, rest.length);
    exports.setTextLimit(this.#textBytesMax);
    this.#kernels.bytes.set(rest, address);
    const unit = PRECISION_NANOS[options.precision];
    exports.setTimes(unit, options.now - floorMod(options.now, unit));
    this.#begin(address, host);
    const refusals = new Refusals(options.isDetailed === true ? newlineCounter(body) : undefined);
    const source = { body: rest, address, from, options };
    const { parseErrorsMax = Number.POSITIVE_INFINITY } = options;
    while (refusals.parseErrorCount < parseErrorsMax) {
      const event = exports.run();
      if (event === INGEST_EVENTS.done || event === INGEST_EVENTS.full) break;
      if (event === INGEST_EVENTS.line) this.#slowLine(source, refusals);
      else this.#answer(event, host, refusals, () => this.#linePlace(source, refusals));
    }
    const consumed = (exports.getCursor() >>> 0) - address;
    exports.closeLines();
    exports.trimScratch(SCRATCH_KEPT_BYTES);
    this.#body.trim(SCRATCH_KEPT_BYTES);
    this.#point.trim(SCRATCH_KEPT_BYTES);
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
        if (event === INGEST_EVENTS.done) break;
        this.#answer(event, host, refusals, () => undefined);
      }
    }
    return this.#finish(refusals, 0);
  }

  forgetTypes(): void {
    this.#mustDrop = true;
  }

  get batchBytes(): number {
    return this.#kernels.exports.tableBytes() >>> 0;
  }

  #begin(start: number, host: IngestHost): void {
    const { exports } = this.#kernels;
    const holdsMuch =
      this.batchBytes > Math.min(BATCH_BYTES_KEPT.value, this.#batchBytesMax / 4) ||
      exports.tableCount() > TABLES_KEPT;
    if (this.#mustDrop || holdsMuch) this.#dropTables();
    exports.allowSparse(this.#allowsSparse);
    const { oldestAccepted: oldest = MIN_INT64, newestAccepted: newest = MAX_INT64 } = host;
    exports.beginBatch(
      start,
      host.admitSeries !== undefined,
      this.#batchBytesMax,
      oldest < MIN_INT64 ? MIN_INT64 : oldest,
      newest > MAX_INT64 ? MAX_INT64 : newest,
    );
  }

  /** Answers a question of the kernel about the staged point. */
  #answer(event: number, host: IngestHost, refusals: Refusals, place: () => LinePlace): void {
    const { exports } = this.#kernels;
    switch (event) {
      case INGEST_EVENTS.shard: {
        const shard = host.shardFor(exports.getStagedTime());
        if (shard === undefined || typeof shard === 'string') {
          refusals.drop('retention', shard ?? BEYOND_RETENTION, place());
          exports.dropPoint();
          return;
        }
        const time = exports.getStagedTime();
        assert(shard.start <= time, 'the shard of a point starts at or before it');
        assert(time < shard.end, 'the shard of a point ends after it');
        // Bounds of shards can exceed int64; times cannot.
        const start = shard.start < MIN_INT64 ? MIN_INT64 : shard.start;
        exports.addShard(shard.id, start, shard.end > MAX_INT64 ? MAX_INT64 : shard.end);
        return;
      }
      case INGEST_EVENTS.table: {
        const measurement = exports.getStagedMeasurement();
        const shardId = exports.getEventShard();
        // `fieldTypes` must not use this Ingest, because a point is staged.
        const table = this.#ensureTable(shardId, measurement, host);
        if (exports.setTable(table) === 0) this.#fail();
        return;
      }
      case INGEST_EVENTS.series: {
        assert(host.admitSeries !== undefined, 'only a host that admits series is asked');
        const answer = host.admitSeries(this.#stagedKey());
        if (typeof answer === 'number') {
          exports.admitSeries(Math.min(answer, ADMITTED_MAX));
        } else {
          refusals.drop('series', answer, place());
          exports.dropPoint();
        }
        return;
      }
      case INGEST_EVENTS.retention:
        refusals.drop('retention', BEYOND_RETENTION, place());
        exports.dropPoint();
        return;
      case INGEST_EVENTS.conflict:
        refusals.drop('field', this.#conflictReason(), place());
        return;
      default:
        assert(event === INGEST_EVENTS.memory, 'the kernel stops for a known reason');
        this.#fail();
    }
  }

  /** Discards the batch. Only names stay. */
  #fail(): never {
    const { exports } = this.#kernels;
    exports.dropPoint();
    exports.truncateSeries(exports.getBatchFirstSeries());
    this.#dropTables();
    throw new Unavailable('kernel memory is exhausted');
  }

  #dropTables(): void {
    this.#mustDrop = false;
    this.#tables.clear();
    this.#kernels.exports.forgetTables();
    this.#kernels.exports.dropTables();
  }

  /** Address of the table of a shard and measurement, created with the field types of the shard. */
  #ensureTable(shardId: number, measurement: number, host: IngestHost): number {
    let ofShard = this.#tables.get(shardId);
    if (ofShard === undefined) {
      ofShard = new Map();
      this.#tables.set(shardId, ofShard);
    }
    const known = ofShard.get(measurement);
    if (known !== undefined) return known;
    const { exports } = this.#kernels;
    const table = exports.createTable(shardId, measurement) >>> 0;
    if (table === 0) this.#fail();
    ofShard.set(measurement, table);
    const names = this.#names;
    let seen = 0;
    for (const [field, type] of host.fieldTypes(shardId, names.measurement(measurement))) {
      const number =
        ++seen > UNLISTED_FIELDS
          ? names.listedFieldNumber(measurement, field)
          : names.fieldNumber(measurement, names.encode(field));
      if (exports.columnOf(table, number) !== 0) continue;
      if (exports.addColumn(table, number, FIELD_TYPES[type]) === 0) this.#fail();
    }
    return table;
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
    const wanted = reportedType(columnType(exports.getEventNew()));
    const present = reportedType(columnType(exports.getEventOld()));
    return `field type conflict: input field ${field} on measurement ${name} is type ${wanted}, already exists as type ${present}`;
  }

  /** The line of the staged or dropped point; `undefined` when lines are not listed. */
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
    // With its newline, because the end of a body has other rules than the end of a line.
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

  /** The head of the last point: the next one usually has the same tags. */
  #head: PointHead | undefined;
  readonly #encodedNames = new Map<string, Uint8Array>();

  #headOf(measurement: string, tags: IngestPoint['tags']): PointHead {
    const last = this.#head;
    if (last !== undefined && last.tags === tags && last.measurement === measurement) return last;
    const names = this.#names;
    this.#head = {
      measurement,
      tags,
      hasTimeTag: tags.some(([key]) => key === 'time'),
      key: names.encode(formatSeriesKey(measurement, tags)),
      measurementLength: names.encode(escapeMeasurement(measurement)).length,
    };
    return this.#head;
  }

  #textLimit(text: {
    readonly measurement: string;
    readonly name: string;
    readonly sizeBytes: number;
  }): string {
    const { measurement, name, sizeBytes } = text;
    return `max-text-size limit exceeded: (${sizeBytes}/${this.#textBytesMax}): input field "${name}" on measurement "${measurement}" (data.max-text-size)`;
  }

  #encodedName(name: string): Uint8Array {
    let bytes = this.#encodedNames.get(name);
    if (bytes === undefined) {
      bytes = this.#names.encode(name);
      if (this.#encodedNames.size >= ENCODED_NAMES_MAX) this.#encodedNames.clear();
      this.#encodedNames.set(name, bytes);
    }
    return bytes;
  }

  /** Stages a point for `runPoint`. Returns false when it was refused. */
  #stagePoint(point: IngestPoint, refusals: Refusals, place: LinePlace): boolean {
    const { measurement, tags } = point;
    const head = this.#headOf(measurement, tags);
    if (head.hasTimeTag) {
      const reason = `invalid tag key: input tag "time" on measurement "${measurement}" is invalid`;
      refusals.drop('time-tag', reason, place);
      return false;
    }
    const hasTime = point.fields.some(([name]) => name === 'time');
    const fields = hasTime ? point.fields.filter(([name]) => name !== 'time') : point.fields;
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
    const { key, measurementLength } = head;
    const parts = fields.map(([name, value]) => ({
      name: this.#encodedName(name),
      text: typeof value === 'string' ? names.encode(value) : undefined,
      value,
    }));
    const long = parts.findIndex(({ text }) => (text?.length ?? 0) > this.#textBytesMax);
    if (long >= 0) {
      const sizeBytes = parts[long]!.text!.length;
      const [name] = fields[long]!;
      refusals.drop('field', this.#textLimit({ measurement, name, sizeBytes }), place);
      return false;
    }
    let size = key.length;
    for (const part of parts) size += part.name.length + (part.text?.length ?? 0);
    const { exports } = this.#kernels;
    let at = this.#point.reserve(size);
    const put = (bytes: Uint8Array): number => {
      const start = at;
      // Read `bytes` again each time: a new name may grow linear memory.
      this.#kernels.bytes.set(bytes, start);
      at += bytes.length;
      return start;
    };
    exports.beginPoint(put(key), key.length, measurementLength);
    for (const { name, text, value } of parts) {
      const type = FIELD_TYPES[fieldTypeOf(value)];
      const nameAt = put(name);
      const bits =
        text === undefined ? this.#bitsOf(value) : BigInt(put(text)) | (BigInt(text.length) << 32n);
      exports.addPointField(nameAt, name.length, type, bits);
    }
    exports.finishPoint(point.time);
    return true;
  }

  #bitsOf(value: FieldValue | UnsignedValue): bigint {
    switch (typeof value) {
      case 'number':
        return floatBits(value);
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
    const addresses: number[] = [];
    let address = exports.getBatchTables() >>> 0;
    while (address !== 0) {
      if (exports.tableRows(address) > 0) addresses.push(address);
      address = exports.batchNext(address) >>> 0;
    }
    addresses.reverse();
    const firstSeriesId = exports.getBatchFirstSeries();
    return {
      ...refusals.result(),
      tables: addresses.map((one) => new StagedTable(this.#kernels, this.#names, one)),
      newFields: addresses.flatMap((one) => this.#newFields(one)),
      firstSeriesId,
      newSeriesCount: exports.nextSeriesId() - firstSeriesId,
      pointsWritten: exports.getBatchPoints(),
      valuesWritten: exports.getBatchValues(),
      consumedBytes,
    };
  }

  #newFields(table: number): NewField[] {
    const { exports } = this.#kernels;
    const number = exports.tableMeasurement(table);
    const measurement = this.#names.measurement(number);
    const shardId = exports.tableShard(table);
    const fields: NewField[] = [];
    for (let i = exports.batchColumns(table); i < exports.tableColumns(table); i++) {
      const field = this.#names.field(number, exports.columnField(table, i));
      fields.push({ shardId, measurement, field, type: columnType(exports.columnType(table, i)) });
    }
    return fields;
  }
}

/**
 * Numbers of further fields of a table are cached: a table with very many is dropped after each
 * batch, and created again with all of them for the next.
 */
const UNLISTED_FIELDS = 256;

type BodySource = {
  readonly body: Uint8Array;
  readonly address: number;
  readonly from: number;
  readonly options: ParseOptions;
};

/** More than a batch can have. */
const ADMITTED_MAX = 2 ** 30;
// Memory kept after a batch, so that one body of 25 MB does not keep as much forever.
const SCRATCH_KEPT_BYTES = 4 << 20;
// Tables kept after a batch, which a client that writes to many shards and measurements would
// leave.
const TABLES_KEPT = 1024;
