// Applies durable records to memory. Snapshots taken afterwards see them.
import type { RowBlock } from '../columns/row-block.ts';
import { runStarts } from '../memtable/row-runs.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { dropEmptySeries } from '../shard/live-series.ts';
import type { Shard } from '../shard/shard.ts';
import type { Contents } from '../state/contents.ts';
import type { DeleteRecord, DropRecord } from '../wal/wal-record.ts';

/** Adds rows to the memtable of a shard, and their series to the shard. */
export function applyRows(
  { memtables }: Contents,
  to: { readonly shard: Shard; readonly index: SeriesIndex; readonly nowMs: number },
  block: RowBlock,
): void {
  const { shard, index, nowMs } = to;
  const { series, rows } = block;
  const starts = runStarts(series, rows);
  for (const start of starts) {
    const id = series[start]!;
    if (shard.series.add(id)) index.addedToShard(id);
  }
  memtables.append(shard.descriptor.id, block, { index, starts, nowMs });
}

/** Applies a durable delete. It does not touch rows logged after it. */
export function applyDelete(contents: Contents, record: DeleteRecord): void {
  const { databases, shards, memtables } = contents;
  const database = databases.get(record.database.name);
  if (database?.instance !== record.database.instance) return;
  const { index } = database;
  for (const id of record.shardIds) {
    const shard = shards.get(id);
    if (shard === undefined) continue;
    memtables.delete(id, record);
    addTombstones(contents, shard, record);
    shard.series = dropEmptySeries({ shard, index }, record.rows, (measurementId) =>
      memtables.seriesOf(id, measurementId),
    );
    if (!record.freesTypes) continue;
    for (const { measurementId } of record.rows) shard.fields.removeMeasurement(measurementId);
  }
  database.dropDead();
}

/** Adds tombstones for rows in segments, and for frozen rows that a flush is writing. */
function addTombstones({ ids, memtables }: Contents, shard: Shard, record: DeleteRecord): void {
  const hasSegments = shard.segments.length > 0 || shard.unreadable.length > 0;
  if (!hasSegments && !memtables.hasFrozen(shard.descriptor.id)) return;
  const { timeRange, freesTypes } = record;
  const sequence = ids.takeSequence();
  const added = record.rows.map(({ measurementId, series }) => ({
    sequence,
    measurementId,
    series: series?.slice().sort(),
    timeRange,
    freesTypes,
  }));
  shard.tombstones = [...shard.tombstones, ...added];
}

/** Removes shards, and databases that have none left. */
export function applyDrop(
  { shards, memtables, databases, stopped }: Contents,
  record: DropRecord,
): void {
  for (const id of record.shardIds) {
    const shard = shards.remove(id);
    if (shard === undefined) continue;
    memtables.drop(id);
    const { database: name } = shard.descriptor;
    const database = databases.get(name);
    if (database === undefined) continue;
    for (const series of shard.series) database.index.removedFromShard(series);
    database.dropDead();
    if (shards.ofDatabase(name).length > 0) continue;
    databases.delete(database);
    stopped.forget(name);
  }
}
