// Turns requests into batches. The ingest kernel parses and checks points and assigns series ids.
// From its memory, rows are encoded for the log in the order of the request, and copied once for
// the memtable.
import { parseLines } from '@tidemark/line-protocol';
import { assert } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { IngestKernel } from '@tidemark/kernels';
import type { Batch, IngestHost, RowBuffers, StagedTable } from '@tidemark/kernels';

import { RowBlock } from '../columns/row-block.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { canonicalTags } from '../series/series-index.ts';
import type { ShardStore } from '../state/shard-store.ts';
import type { Shard } from '../shard/shard.ts';
import type {
  PolicyRef,
  RejectedLine,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '../storage-engine.ts';
import { badLineLimit, shardLimit } from './messages.ts';
import { encodeStagedTable } from '../wal/wal-record.ts';
import type { EncodedTables } from '../wal/wal-record.ts';
import type { SeriesAdmission } from './series-admission.ts';
import type { DefinedField, WriteBatch } from './write-batch.ts';

export type IngestTarget = {
  readonly shards: ShardStore;
  readonly policy: PolicyRef;
  readonly admission: SeriesAdmission;
  /** Ids of the shards that the request has points for, so far. */
  readonly used: Set<number>;
  readonly outcome: OutcomeCollector;
};

export type IngestSettings = {
  readonly allowUnsigned: boolean;
  /** `measurement`: a field has one type in all shards. `shard`: one type in each. */
  readonly fieldTypes: 'shard' | 'measurement';
  /** Limit per write; 0 means no limit. */
  readonly maxShards: number;
  /** Lines that cannot be parsed, per write; 0 means no limit. */
  readonly maxBadLines: number;
  /** Bytes of a text; points with a longer one are refused. 0 means no limit. */
  readonly maxTextBytes: number;
  /** Size of a batch in memory; by default that of the kernel. */
  readonly partBytes?: number | undefined;
};

/** Bad lines are parsed a second time for their errors: some ten milliseconds for so many. */
const BAD_LINES_PER_BATCH = 1000;
/** Points of `writePoints` per batch: some milliseconds of work. */
const POINTS_PER_BATCH = 1 << 12;

/** Ingest into one database. */
export class Ingest {
  readonly #database: { readonly index: SeriesIndex };
  #index: SeriesIndex;
  readonly #settings: IngestSettings;
  /** Memory for copies of rows. */
  readonly #buffers: RowBuffers;
  #kernel: IngestKernel;
  /** The count of `FieldRemovals` for which the kernel last forgot its types. */
  #fieldRemovals = 0;
  /** Estimated size of an encoded table. */
  #encodedBytes = 0;

  constructor(
    database: { readonly index: SeriesIndex },
    settings: IngestSettings,
    buffers: RowBuffers,
  ) {
    this.#database = database;
    this.#index = database.index;
    this.#settings = settings;
    this.#buffers = buffers;
    this.#kernel = kernelFor(database.index, settings);
  }

  /** A rebuild may replace the index between two batches: the kernel then needs the new one. */
  #followIndex(): void {
    const { index } = this.#database;
    if (index === this.#index) return;
    this.#index = index;
    this.#kernel = kernelFor(index, this.#settings);
  }

  /**
   * The batch of a request that begins at a byte of its body, usually all of it: a body that takes
   * more than some milliseconds is split. The body is valid UTF-8. The outcome is complete after
   * the last batch.
   */
  lines(request: WriteLinesRequest, from: number, target: IngestTarget): WriteBatch {
    const { body, precision, now, isDetailed } = request;
    const { outcome } = target;
    const { maxBadLines } = this.#settings;
    const left = maxBadLines === 0 ? Infinity : maxBadLines - outcome.parseErrorCount;
    const parseErrorsMax = Math.min(BAD_LINES_PER_BATCH, left);
    const options = { precision, now, isDetailed, from, parseErrorsMax };
    const host = this.#host(target);
    const batch = this.#kernel.parseLines(body, options, host);
    outcome.add(batch);
    const isLeft = maxBadLines > 0 && outcome.parseErrorCount >= maxBadLines;
    const isWhole = batch.consumedBytes >= body.length;
    if (isLeft && !isWhole) outcome.leave(badLineLimit(maxBadLines));
    const hasMore = batch.consumedBytes > from && !isWhole && !isLeft;
    return { ...this.#take(batch, target), next: hasMore ? batch.consumedBytes : undefined };
  }

  /** As `lines`, from a point on. */
  points(request: WritePointsRequest, from: number, target: IngestTarget): WriteBatch {
    const end = from + POINTS_PER_BATCH;
    const points = request.points.slice(from, end).flatMap((point) => {
      // NaN and infinities cannot be stored. A point with no other fields is skipped.
      const fields = point.fields.filter(
        ([, value]) => typeof value !== 'number' || Number.isFinite(value),
      );
      return fields.length === 0 ? [] : [{ ...point, fields, tags: canonicalTags(point.tags) }];
    });
    const host = this.#host(target);
    const batch = this.#kernel.appendPoints(points, host);
    target.outcome.add(batch);
    return { ...this.#take(batch, target), next: end < request.points.length ? end : undefined };
  }

  #host({ shards, policy, admission, used }: IngestTarget): IngestHost {
    this.#followIndex();
    const { maxShards } = this.#settings;
    const { count: removals } = shards.fieldRemovals;
    if (removals !== this.#fieldRemovals) this.#kernel.forgetTypes();
    this.#fieldRemovals = removals;
    return {
      oldestAccepted: policy.oldestAccepted,
      newestAccepted: policy.newestAccepted,
      shardFor: (time) => {
        const isFull = maxShards > 0 && used.size >= maxShards;
        const shard = isFull ? shards.find(policy.id, time) : shards.findOrCreate(policy, time);
        if (shard === undefined || (isFull && !used.has(shard.descriptor.id)))
          return shardLimit(maxShards);
        const { id, start, end } = shard.descriptor;
        used.add(id);
        return { id, start, end };
      },
      fieldTypes: (shardId, name) => {
        const measurement = this.#index.measurement(name);
        const shard = shards.get(shardId);
        if (measurement === undefined || shard === undefined) return [];
        if (this.#settings.fieldTypes === 'shard') return shard.fields.of(measurement.id);
        const types = new Map<string, FieldType>();
        for (const other of shards.ofDatabase(policy.database)) {
          for (const [field, type] of other.fields.of(measurement.id)) {
            if (!types.has(field)) types.set(field, type);
          }
        }
        return types;
      },
      admitSeries: admission.hasLimits ? (key) => admission.admit(key) : undefined,
    };
  }

  /** Copies the rows of the batch out of the kernel's memory. */
  #take(batch: Batch, { shards, policy }: IngestTarget): Omit<WriteBatch, 'next'> {
    if (batch.newSeriesCount > 0) this.#index.indexNewSeries();
    const parts = new Map<Shard, { tables: RowBlock[]; encoded: EncodedTables[] }>();
    for (const staged of batch.tables) {
      const shard = shards.get(staged.shardId);
      assert(shard !== undefined, 'rows are given shards that exist');
      let part = parts.get(shard);
      if (part === undefined) {
        part = { tables: [], encoded: [] };
        parts.set(shard, part);
      }
      const { id } = this.#index.addMeasurement(staged.measurement);
      const encoded = encodeStagedTable(staged, id, this.#encodedBytes);
      this.#encodedBytes = encoded.bytes.length + (encoded.bytes.length >>> 3);
      part.encoded.push(encoded);
      part.tables.push(tableOf(staged, id, this.#buffers));
    }
    const definedFields: DefinedField[] = [];
    for (const { shardId, measurement, field, type } of batch.newFields) {
      const shard = shards.get(shardId);
      const measurementId = this.#index.addMeasurement(measurement).id;
      if (shard === undefined || shard.fields.get(measurementId, field) !== undefined) continue;
      shards.setField(shard, { measurementId, field }, type);
      definedFields.push({ shard, measurementId, field });
    }
    // With one type per measurement, a type defined in one shard holds in all of them.
    if (definedFields.length > 0 && this.#settings.fieldTypes === 'measurement') {
      if (shards.ofDatabase(policy.database).length > 1) this.#kernel.forgetTypes();
    }
    return {
      parts: Array.from(parts, ([shard, part]) => ({ shard, ...part })),
      definedFields,
    };
  }
}

function kernelFor(
  index: SeriesIndex,
  { allowUnsigned, maxTextBytes, partBytes }: IngestSettings,
): IngestKernel {
  return new IngestKernel({
    series: index.keys,
    textBytesMax: maxTextBytes,
    allowsSparse: true,
    batchBytesMax: partBytes,
    parseLine: (line, options) => parseLines(line, { ...options, allowUnsigned }),
  });
}

function tableOf(staged: StagedTable, measurementId: number, buffers: RowBuffers): RowBlock {
  const { seriesIds, times, columns, sparse } = staged.copyRows(buffers);
  const bounds = { min: staged.minTime, max: staged.maxTime };
  const table = RowBlock.adopt(measurementId, seriesIds, times, bounds);
  if (sparse !== undefined) return table.setSparse(sparse);
  staged.fields.forEach(({ name }, i) => table.setColumn(name, columns[i]!));
  return table;
}

/** Adds up the outcomes of a request's batches. */
export class OutcomeCollector {
  readonly #isDetailed: boolean;
  readonly #parseErrors: string[] = [];
  readonly #rejected: RejectedLine[] = [];
  #parseErrorCount = 0;
  #points = 0;
  #values = 0;
  #refusedCount = 0;
  #dropped: WriteOutcome['dropped'];

  constructor(options: { readonly isDetailed: boolean }) {
    this.#isDetailed = options.isDetailed;
  }

  add(batch: Batch): void {
    this.#points += batch.pointsWritten;
    this.#values += batch.valuesWritten;
    for (const error of batch.parseErrors) this.#parseErrors.push(error);
    for (const line of batch.rejectedLines) this.#rejected.push(line);
    this.#parseErrorCount += batch.parseErrorCount;
    this.#refusedCount += batch.parseErrorCount + (batch.dropped?.count ?? 0);
    if (batch.dropped === undefined) return;
    const { count, reason } = this.#dropped ?? { count: 0, reason: batch.dropped.reason };
    this.#dropped = { count: count + batch.dropped.count, reason };
  }

  /** Number of lines that could not be parsed so far. */
  get parseErrorCount(): number {
    return this.#parseErrorCount;
  }

  /** Reports that the rest of the body is not parsed, and why. */
  leave(reason: string): void {
    this.#parseErrors.push(reason);
  }

  get outcome(): WriteOutcome {
    const unlistedCount = this.#refusedCount - this.#rejected.length;
    return {
      pointsWritten: this.#points,
      valuesWritten: this.#values,
      parseErrors: this.#parseErrors,
      dropped: this.#dropped,
      ...(this.#isDetailed ? { rejectedLines: this.#rejected } : {}),
      ...(this.#isDetailed && unlistedCount > 0 ? { unlistedCount } : {}),
    };
  }
}
