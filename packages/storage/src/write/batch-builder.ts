// Turns requests into batches. Ingest parses and checks points and assigns series ids. From the
// kernel's memory, rows are encoded for the log in the order of the request, and copied once for
// the memtable.
import { assert } from '@tidemark/core';
import type { RowBuffers, StagedTable } from '@tidemark/kernels';
import { Ingest } from '@tidemark/storage-api';
import type {
  IngestedPart,
  IngestSettings,
  IngestShards,
  IngestTarget,
  WriteLinesRequest,
  WritePointsRequest,
} from '@tidemark/storage-api';

import { RowBlock } from '../columns/row-block.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { ShardStore } from '../state/shard-store.ts';
import type { Shard } from '../shard/shard.ts';
import type { Database } from '../state/database.ts';
import { encodeStagedTable } from '../wal/wal-record.ts';
import type { EncodedTables } from '../wal/wal-record.ts';
import type { DefinedField, WriteBatch } from './write-batch.ts';

export type BatchBuilderParts = {
  readonly database: Pick<Database, 'name' | 'index'>;
  readonly shards: ShardStore;
  readonly settings: IngestSettings;
  /** Memory for copies of rows. */
  readonly buffers: RowBuffers;
};

/** Builds the batches of one database. */
export class BatchBuilder {
  readonly #parts: BatchBuilderParts;
  #index: SeriesIndex;
  #ingest: Ingest;
  /** The count of `FieldRemovals` for which ingest last forgot its types. */
  #fieldRemovals = 0;
  /** Estimated size of an encoded table. */
  #encodedBytes = 0;

  constructor(parts: BatchBuilderParts) {
    this.#parts = parts;
    this.#index = parts.database.index;
    this.#ingest = ingestFor(parts);
  }

  /** A rebuild may replace the index between two batches: ingest then needs the new one. */
  get #current(): Ingest {
    const { database, shards } = this.#parts;
    if (database.index !== this.#index) {
      this.#index = database.index;
      this.#ingest = ingestFor(this.#parts);
    }
    const { count: removals } = shards.fieldRemovals;
    if (removals !== this.#fieldRemovals) this.#ingest.forgetTypes();
    this.#fieldRemovals = removals;
    return this.#ingest;
  }

  /** The batch of a request that begins at a byte of its body (`Ingest.lines`). */
  lines(request: WriteLinesRequest, from: number, target: IngestTarget): WriteBatch {
    return this.#take(this.#current.lines(request, from, target));
  }

  /** As `lines`, from a point on. */
  points(request: WritePointsRequest, from: number, target: IngestTarget): WriteBatch {
    return this.#take(this.#current.points(request, from, target));
  }

  /** Copies the rows of the batch out of the kernel's memory. */
  #take({ batch, next }: IngestedPart): WriteBatch {
    const { shards, buffers } = this.#parts;
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
      part.tables.push(tableOf(staged, id, buffers));
    }
    const definedFields: DefinedField[] = [];
    for (const { shardId, measurement, field, type } of batch.newFields) {
      const shard = shards.get(shardId);
      const measurementId = this.#index.addMeasurement(measurement).id;
      if (shard === undefined || shard.fields.get(measurementId, field) !== undefined) continue;
      shards.setField(shard, { measurementId, field }, type);
      definedFields.push({ shard, measurementId, field });
    }
    return {
      parts: Array.from(parts, ([shard, part]) => ({ shard, ...part })),
      definedFields,
      next,
    };
  }
}

function ingestFor({ database: { name, index }, shards, settings }: BatchBuilderParts): Ingest {
  const ofDatabase: IngestShards = {
    find: (policyId, time) => shards.find(policyId, time)?.descriptor,
    create: (policy, time) => shards.findOrCreate(policy, time).descriptor,
    ids: () => shards.ofDatabase(name).map(({ descriptor }) => descriptor.id),
    fieldTypes: (shardId, measurement) => {
      const id = index.measurement(measurement)?.id;
      const shard = shards.get(shardId);
      return id === undefined || shard === undefined ? [] : shard.fields.of(id);
    },
  };
  return new Ingest({ series: index.keys, shards: ofDatabase, settings, allowsSparse: true });
}

function tableOf(staged: StagedTable, measurementId: number, buffers: RowBuffers): RowBlock {
  const { seriesIds, times, columns, sparse } = staged.copyRows(buffers);
  const bounds = { min: staged.minTime, max: staged.maxTime };
  const table = RowBlock.adopt(measurementId, seriesIds, times, bounds);
  if (sparse !== undefined) return table.setSparse(sparse);
  staged.fields.forEach(({ name }, i) => table.setColumn(name, columns[i]!));
  return table;
}
