// Requests to batches: the ingest kernel parses, checks and sorts; its rows leave it at once as tables. What stays in
// the kernel is its series table, which serves as the cache from key bytes to our ids and can be dropped at any time.
import { parseLines } from '@tidemark/line-protocol';
import type { FieldType } from '@tidemark/core';
import { IngestKernel, Kernels } from '@tidemark/kernels';
import type { Batch, IngestHost, ParseOptions } from '@tidemark/kernels';

import { Table } from '../memtable/table.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { canonicalTags } from '../series/series-index.ts';
import { parseSeriesKey } from '../series/series-key.ts';
import type { ShardStore } from '../shard/shard-store.ts';
import type { Shard } from '../shard/shard.ts';
import type {
  PolicyRef,
  RejectedLine,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '../storage-engine.ts';
import type { SeriesAdmission } from './series-admission.ts';
import type { DefinedField, ShardTables, WriteBatch } from './write-batch.ts';

export type IngestTarget = {
  readonly shards: ShardStore;
  readonly policy: PolicyRef;
  readonly admission: SeriesAdmission;
};

export type Ingested = { readonly batch: WriteBatch; readonly outcome: WriteOutcome };

export type IngestSettings = {
  readonly allowUnsigned: boolean;
  /** `measurement`: a field has one type in all shards, not only within each. */
  readonly fieldTypes: 'shard' | 'measurement';
};

/** The kernel is dropped and made anew when it holds more than this; it then learns its series again. */
const KERNEL_BYTES_MAX = 256 << 20;

/** Ingest of one database. */
export class Ingest {
  readonly #index: SeriesIndex;
  readonly #settings: IngestSettings;
  #kernel: IngestKernel | undefined;
  /** The instance that `#kernel` runs in. */
  #memory: Kernels | undefined;
  /** Series id by the kernel's id. */
  #ids = new Uint32Array(64);

  constructor(index: SeriesIndex, settings: IngestSettings) {
    this.#index = index;
    this.#settings = settings;
  }

  get memoryBytes(): number {
    return (this.#kernel?.memoryBytes ?? 0) + this.#ids.byteLength;
  }

  lines(request: WriteLinesRequest, target: IngestTarget): Ingested {
    const { body, precision, now, isDetailed } = request;
    const collector = new Collector(target);
    for (let from = 0; from < body.length || from === 0;) {
      const options: ParseOptions = { precision, now, isDetailed, from };
      const end = this.#run(target, collector, (kernel, host) =>
        kernel.parseLines(body, options, host),
      );
      if (end <= from) break;
      from = end;
    }
    return collector.finish(isDetailed === true);
  }

  points(request: WritePointsRequest, target: IngestTarget): Ingested {
    const collector = new Collector(target);
    const points = request.points.flatMap((point) => {
      // NaN and infinities can not be stored; a point of nothing else is skipped.
      const fields = point.fields.filter(
        ([, value]) => typeof value !== 'number' || Number.isFinite(value),
      );
      return fields.length === 0 ? [] : [{ ...point, fields, tags: canonicalTags(point.tags) }];
    });
    this.#run(target, collector, (kernel, host) => kernel.appendPoints(points, host));
    return collector.finish(false);
  }

  /** Forgets what the kernel knows; nothing of value is lost. */
  reset(): void {
    this.#kernel = undefined;
    this.#memory = undefined;
    this.#ids = new Uint32Array(64);
  }

  #run(
    target: IngestTarget,
    collector: Collector,
    work: (kernel: IngestKernel, host: IngestHost) => Batch,
  ): number {
    if (this.#kernel !== undefined && this.#kernel.memoryBytes > KERNEL_BYTES_MAX) this.reset();
    const { allowUnsigned } = this.#settings;
    const memory = (this.#memory ??= new Kernels());
    this.#kernel ??= new IngestKernel({
      kernels: memory,
      parseLine: (line, options) => parseLines(line, { ...options, allowUnsigned }),
    });
    const kernel = this.#kernel;
    try {
      const batch = work(kernel, this.#host(target));
      this.#learnSeries(memory, batch);
      this.#takeTables(kernel, batch, collector);
      collector.add(batch);
      return batch.consumedBytes;
    } catch (error) {
      // Rows of the failed request may be left in the kernel: the next request must not find them.
      this.reset();
      throw error;
    }
  }

  #host({ shards, policy, admission }: IngestTarget): IngestHost {
    return {
      oldestAccepted: policy.oldestAccepted,
      newestAccepted: policy.newestAccepted,
      shardFor: (time) => {
        const { id, start, end } = shards.findOrCreate(policy, time).descriptor;
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
      admitSeries: admission.hasLimits
        ? (key) => {
            const { measurement, tags } = parseSeriesKey(key);
            return admission.admit(measurement, tags);
          }
        : undefined,
    };
  }

  /** Adds the new series to the index. Their keys are read where they lie: a copy of each would burden the collector. */
  #learnSeries(memory: Kernels, batch: Batch): void {
    const end = batch.firstSeriesId + batch.newSeriesCount;
    if (end > this.#ids.length) {
      const grown = new Uint32Array(Math.max(end, Math.ceil(this.#ids.length * 1.5)));
      grown.set(this.#ids);
      this.#ids = grown;
    }
    let owner: MeasurementIndex | undefined;
    let prefix: Uint8Array = new Uint8Array(0);
    for (let id = batch.firstSeriesId; id < end; id++) {
      const start = memory.exports.seriesKey(id) >>> 0;
      if (start === 0) continue;
      const keyEnd = start + memory.exports.seriesKeyLength(id);
      const { bytes } = memory;
      // Neighbouring new series mostly belong to one measurement.
      if (owner === undefined || !hasMeasurement(bytes, start, keyEnd, prefix)) {
        const key = bytes.slice(start, keyEnd);
        const { measurement, tagsAt } = parseSeriesKey(key);
        owner = this.#index.addMeasurement(measurement);
        prefix = key.subarray(0, tagsAt);
      }
      this.#ids[id] = this.#index.addSeriesByKey(owner, bytes, start + prefix.length, keyEnd);
    }
  }

  /** Moves the rows of the batch out of the kernel. */
  #takeTables(kernel: IngestKernel, batch: Batch, collector: Collector): void {
    const shardIds = new Set(batch.tables.map((table) => table.shardId));
    for (const shardId of shardIds) {
      const memtable = kernel.seal(shardId);
      if (memtable === undefined) continue;
      for (const info of kernel.tables(memtable)) {
        if (info.rowCount === 0) continue;
        const measurement = this.#index.addMeasurement(info.measurement);
        const rows = kernel.read(info.table);
        const series = new Uint32Array(rows.times.length);
        for (let i = 0; i < rows.seriesIds.length; i++) {
          series.fill(this.#ids[rows.seriesIds[i]!]!, rows.rowStarts[i], rows.rowStarts[i + 1]);
        }
        const table = Table.adopt(measurement.id, series, rows.times, {
          min: info.minTime,
          max: info.maxTime,
        });
        info.fields.forEach(({ name }, i) => {
          const column = rows.columns[i];
          if (column !== undefined) table.setColumn(name, column);
        });
        collector.addTable(shardId, table);
      }
      kernel.free(memtable);
    }
    for (const { shardId, measurement, field, type } of batch.newFields) {
      collector.defineField(shardId, this.#index.addMeasurement(measurement).id, field, type);
    }
  }
}

/** What the batches of one request come to. */
class Collector {
  readonly #target: IngestTarget;
  readonly #tables = new Map<Shard, Table[]>();
  readonly #defined: DefinedField[] = [];
  readonly #parseErrors: string[] = [];
  readonly #rejected: RejectedLine[] = [];
  #points = 0;
  #values = 0;
  #dropped: WriteOutcome['dropped'];

  constructor(target: IngestTarget) {
    this.#target = target;
  }

  add(batch: Batch): void {
    this.#points += batch.pointsWritten;
    this.#values += batch.valuesWritten;
    this.#parseErrors.push(...batch.parseErrors);
    this.#rejected.push(...batch.rejectedLines);
    if (batch.dropped === undefined) return;
    const { count, reason } = this.#dropped ?? { count: 0, reason: batch.dropped.reason };
    this.#dropped = { count: count + batch.dropped.count, reason };
  }

  addTable(shardId: number, table: Table): void {
    const shard = this.#target.shards.get(shardId);
    if (shard === undefined) return;
    const tables = this.#tables.get(shard);
    if (tables === undefined) this.#tables.set(shard, [table]);
    else tables.push(table);
  }

  defineField(
    shardId: number,
    measurementId: number,
    field: string,
    type: Table['columns'][number]['type'],
  ): void {
    const shard = this.#target.shards.get(shardId);
    if (shard === undefined || shard.fields.get(measurementId, field) !== undefined) return;
    shard.fields.set(measurementId, field, type);
    this.#defined.push({ shard, measurementId, field });
  }

  finish(isDetailed: boolean): Ingested {
    const parts: ShardTables[] = [];
    for (const [shard, tables] of this.#tables) parts.push({ shard, tables });
    const outcome: WriteOutcome = {
      pointsWritten: this.#points,
      valuesWritten: this.#values,
      parseErrors: this.#parseErrors,
      dropped: this.#dropped,
      ...(isDetailed ? { rejectedLines: this.#rejected } : {}),
    };
    return { batch: { parts, definedFields: this.#defined }, outcome };
  }
}

/** Whether the key at [start, end) is `prefix` itself or goes on with a tag. */
function hasMeasurement(
  bytes: Uint8Array,
  start: number,
  end: number,
  prefix: Uint8Array,
): boolean {
  const tagsAt = start + prefix.length;
  if (tagsAt > end || (tagsAt !== end && bytes[tagsAt] !== COMMA)) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}

const COMMA = 44;
