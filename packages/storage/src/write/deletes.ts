// What takes rows away: deletes of series and measurements, and drops of shards. First a record in
// the log, then the memtable and tombstones; segments lose the rows when they are compacted.
import { MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { BLOCK_VALUES_MAX } from '@tidemark/kernels';

import { unchangeable } from '../damage.ts';
import { selectMeasurements, selectOrdinals } from '../series/select.ts';
import type { Shard } from '../shard/shard.ts';
import type { DeleteRequest } from '../storage-engine.ts';
import { encodeFramed } from '../wal/wal-record.ts';
import type { DeletedRows, DeleteRecord, DropRecord } from '../wal/wal-record.ts';
import { deleteFromMemtable } from './apply.ts';
import { dropEmptySeries } from '../shard/live-series.ts';
import type { Database } from '../state/database.ts';
import type { Engine } from '../engine/engine.ts';

const ALL_INT64: TimeRange = { start: MIN_INT64, end: MAX_INT64 };

/**
 * Deletes rows of the series that match, durable when it resolves. Throws `Corruption` where a
 * shard of them is damaged.
 */
export async function deleteRows(engine: Engine, request: DeleteRequest): Promise<void> {
  engine.needUnstopped(request.database);
  const database = engine.databases.get(request.database);
  if (database === undefined) return;
  const rows: DeletedRows[] = [];
  const { index } = database;
  for (const measurement of selectMeasurements(index, request)) {
    const ordinals = selectOrdinals(index, measurement, request.where);
    if (ordinals.length === 0) continue;
    const isAll = ordinals.length === measurement.seriesCount && request.where === undefined;
    const series = isAll ? undefined : ordinals.map((ordinal) => measurement.seriesId(ordinal));
    if (series === undefined) rows.push({ measurementId: measurement.id, series });
    // Parts that fit a block each.
    for (let at = 0; at < (series?.length ?? 0); at += BLOCK_VALUES_MAX.value) {
      const part = series?.subarray(at, at + BLOCK_VALUES_MAX.value);
      rows.push({ measurementId: measurement.id, series: part });
    }
  }
  await logDelete(engine, database, {
    rows,
    retentionPolicy: request.retentionPolicy,
    timeRange: request.timeRange,
    freesTypes: false,
  });
}

/** Deletes all rows of a measurement and the types of its fields. */
export async function dropMeasurement(
  engine: Engine,
  databaseName: string,
  name: string,
): Promise<void> {
  engine.needUnstopped(databaseName);
  const database = engine.databases.get(databaseName);
  const measurement = database?.index.measurement(name);
  if (database === undefined || measurement === undefined) return;
  const rows = [{ measurementId: measurement.id, series: undefined }];
  await logDelete(engine, database, { rows, freesTypes: true });
}

async function logDelete(
  engine: Engine,
  database: Database,
  what: {
    readonly rows: readonly DeletedRows[];
    readonly retentionPolicy?: string | undefined;
    readonly timeRange?: TimeRange | undefined;
    readonly freesTypes: boolean;
  },
): Promise<void> {
  const wal = engine.openWal();
  const { rows } = what;
  const timeRange = what.timeRange ?? ALL_INT64;
  const shards = engine.shards
    .ofDatabase(database.name, what.retentionPolicy)
    .filter(({ descriptor: d }) => d.start <= timeRange.end && d.end > timeRange.start);
  for (const { damage } of shards) if (damage !== undefined) throw unchangeable(damage);
  const shardIds = shards.map((shard) => shard.descriptor.id);
  if (rows.length === 0 || shardIds.length === 0) return;
  const record: DeleteRecord = {
    kind: 'delete',
    database: database.ref,
    shardIds,
    timeRange,
    rows,
    freesTypes: what.freesTypes,
  };
  const framed = encodeFramed(record);
  const apply = (): void => applyDelete(engine, record);
  await engine.reserve.use(() => wal.append(framed, [database.name], apply));
}

/** Applies a durable delete. Rows that are logged later are not touched. */
export function applyDelete(engine: Engine, record: DeleteRecord): void {
  const database = engine.databases.get(record.database.name);
  if (database?.instance !== record.database.instance) return;
  for (const id of record.shardIds) {
    const shard = engine.shards.get(id);
    if (shard === undefined) continue;
    shard.active = new Map(shard.active);
    deleteFromMemtable(shard.active, record);
    if (shard.frozen !== undefined) {
      // The flush goes on with the old tables; the tombstone covers what it writes.
      shard.frozen = new Map(shard.frozen);
      deleteFromMemtable(shard.frozen, record);
    }
    addTombstones(engine, shard, record);
    shard.series = dropEmptySeries(database.index, shard, record);
    if (!record.freesTypes) continue;
    for (const { measurementId } of record.rows) shard.fields.removeMeasurement(measurementId);
  }
  database.dropDead();
}

function addTombstones(engine: Engine, shard: Shard, record: DeleteRecord): void {
  const hasSegments = shard.segments.length > 0 || shard.unreadable.length > 0;
  if (!hasSegments && shard.frozen === undefined) return;
  const { timeRange, freesTypes } = record;
  const sequence = engine.takeSequence();
  const added = record.rows.map(({ measurementId, series }) => ({
    sequence,
    measurementId,
    series: series?.slice().sort(),
    timeRange,
    freesTypes,
  }));
  shard.tombstones = [...shard.tombstones, ...added];
}

/** Drops shards: a record in the log, then a manifest without them, then their files. */
export async function dropShards(engine: Engine, shards: readonly Shard[]): Promise<void> {
  if (shards.length === 0) return;
  const record: DropRecord = { kind: 'drop', shardIds: shards.map((s) => s.descriptor.id) };
  const wal = engine.openWal();
  const framed = encodeFramed(record);
  const names = [...new Set(shards.map(({ descriptor }) => descriptor.database))];
  const apply = (): void => applyDrop(engine, record);
  await engine.reserve.use(() => wal.append(framed, names, apply));
  await engine.fault('drop:logged');
  await engine.maintenance?.commitDrops(shards);
  engine.removeOrphanIndexes();
  await engine.leaveReserve();
}

/** Forgets shards, and databases whose last shard goes. */
export function applyDrop(engine: Engine, record: DropRecord): void {
  for (const id of record.shardIds) {
    const shard = engine.shards.remove(id);
    if (shard === undefined) continue;
    const { database: name } = shard.descriptor;
    const database = engine.databases.get(name);
    if (database === undefined) continue;
    for (const series of shard.series) database.index.removedFromShard(series);
    database.dropDead();
    if (engine.shards.ofDatabase(name).length > 0) continue;
    engine.databases.delete(name);
    engine.stopped.forget(name);
    database.index.close();
  }
}
