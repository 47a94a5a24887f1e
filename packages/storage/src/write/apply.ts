// Applies durable records to memory. Snapshots taken afterwards see them.
import type { RowBlock } from '../columns/row-block.ts';
import { runStarts } from '../memtable/row-runs.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { Deletion } from '../memtable/deletion.ts';
import { dropEmptySeries, STEP_SERIES } from '../state/live-series.ts';
import type { Shard } from '../shard/shard.ts';
import { groupInSteps, sharedSeries, tombstonesOf } from '../shard/tombstone.ts';
import type { Contents } from '../state/contents.ts';
import type { Database } from '../state/database.ts';
import type { DeleteRecord, DropRecord } from '../wal/wal-record.ts';

/** Adds rows to the memtable of a shard, and their series to the shard. */
export function applyRows(
  { shards, memtables }: Contents,
  to: { readonly shard: Shard; readonly index: SeriesIndex; readonly nowMs: number },
  block: RowBlock,
): void {
  const { shard, index, nowMs } = to;
  shards.logged(shard);
  const { series, rows } = block;
  const starts = runStarts(series, rows);
  for (const start of starts) shards.addSeries(shard, series[start]!, index);
  memtables.append(shard.descriptor.id, block, { index, starts, nowMs });
}

/**
 * Applies a durable delete: its rows are hidden from now on. It does not affect rows logged after
 * it. `deletion` may have been prepared. `releaseDeleted` has to follow.
 */
export function applyDelete(contents: Contents, record: DeleteRecord, deletion: Deletion): void {
  const { shards, memtables } = contents;
  if (databaseOf(contents, record) === undefined) return;
  const { rows } = deletion;
  for (const id of record.shardIds) {
    const shard = shards.get(id);
    if (shard === undefined) continue;
    memtables.delete(id, deletion);
    addTombstones(contents, shard, { ...record, rows });
    if (!record.freesTypes) continue;
    for (const { measurementId } of rows) shards.removeFieldsOf(shard, measurementId);
  }
}

/** Removes series without rows after a delete from their shards and from the index, in steps. */
export function* releaseDeleted(contents: Contents, record: DeleteRecord): Generator<undefined> {
  const { shards, memtables } = contents;
  const database = databaseOf(contents, record);
  if (database === undefined) return;
  for (const id of record.shardIds) {
    const shard = shards.get(id);
    if (shard === undefined) continue;
    yield* groupInSteps(shard.tombstones);
    yield* dropEmptySeries(shard, record.rows, {
      shards,
      index: () => (shards.get(id) === shard ? database.index : undefined),
      isInMemory: (measurementId, series) => memtables.hasSeries(id, measurementId, series),
    });
  }
  database.collectEmpty();
  yield* database.deleteEmpty();
}

/** The database of the record, unless it was dropped. */
function databaseOf(
  { databases }: Contents,
  { database: ref }: DeleteRecord,
): Database | undefined {
  const database = databases.get(ref.name);
  return database?.instance === ref.instance ? database : undefined;
}

/** Adds tombstones for rows in segments, and for frozen rows that a flush is writing. */
function addTombstones(
  { ids, shards, memtables }: Contents,
  shard: Shard,
  record: DeleteRecord,
): void {
  const hasSegments = shard.segments.length > 0 || shard.unreadable.length > 0;
  if (!hasSegments && !memtables.hasFrozen(shard.descriptor.id)) return;
  const { timeRange, freesTypes } = record;
  const sequence = ids.takeSequence();
  const added = record.rows.map(({ measurementId, series }) => ({
    sequence,
    measurementId,
    series: sharedSeries(tombstonesOf(shard.tombstones, measurementId), series),
    timeRange,
    freesTypes,
  }));
  shards.addTombstones(shard, added);
}

/** A dropped shard whose database remains: its series have to leave the index. */
export type DroppedShard = { readonly database: Database; readonly shard: Shard };

/**
 * Removes shards, and databases that have none left. `releaseDropped` has to follow with the
 * result.
 */
export function applyDrop(
  { shards, memtables, databases, stopped }: Contents,
  record: DropRecord,
): readonly DroppedShard[] {
  const dropped: DroppedShard[] = [];
  for (const id of record.shardIds) {
    const shard = shards.get(id);
    if (shard === undefined) continue;
    const { database: name } = shard.descriptor;
    const database = databases.get(name);
    // It counts the shards that are there when it is read, and `releaseDropped` counts this one
    // off.
    database?.stored.read();
    shards.remove(id);
    memtables.drop(id);
    if (database === undefined) continue;
    dropped.push({ database, shard });
    // A start that reads the log finds only these.
    const rest = shards.ofDatabase(name);
    if (rest.some(({ isLogged }) => isLogged)) continue;
    for (const { descriptor } of rest) shards.remove(descriptor.id);
    databases.delete(database);
    stopped.forget(name);
  }
  return dropped.filter(({ database }) => databases.has(database));
}

/** Removes the series of dropped shards from the index, in steps. */
export function* releaseDropped(dropped: readonly DroppedShard[]): Generator<undefined> {
  for (const { database, shard } of dropped) {
    const series = Uint32Array.from(shard.series);
    for (let at = 0; at < series.length; at += STEP_SERIES) {
      database.index.removedFromShard(series.subarray(at, at + STEP_SERIES));
      yield undefined;
    }
    database.collectEmpty();
    yield* database.deleteEmpty();
  }
}
