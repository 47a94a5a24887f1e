// The engine's counters, for `/metrics`, `SHOW STATS` and the monitor.
import type { DatabaseStatistics, StorageStatistics } from '@tidemark/storage-api';

import type { Database } from '../state/database.ts';
import type { EngineParts } from './parts.ts';

export function statisticsOf(parts: EngineParts): StorageStatistics {
  const { state, wal, reclaimer, reading, writes, flush, compaction } = parts;
  const databases: DatabaseStatistics[] = [];
  let indexBytes = 0;
  for (const database of state.databases.all()) {
    databases.push({ database: database.name, ...countsOf(parts, database) });
    for (const stored of [database.stored, database.rebuild?.stored]) {
      if (stored?.isRead === true) indexBytes += stored.index.memoryBytes;
    }
  }
  let segments = 0;
  let segmentBytes = 0;
  let tombstones = 0;
  for (const shard of state.shards.all()) {
    segments += shard.segments.length;
    segmentBytes += shard.diskBytes;
    tombstones += shard.tombstones.length;
  }
  const counters: Record<string, number> = {
    ...writes.counters,
    ...flush.counters,
    ...compaction.counters,
    shards: state.shards.count,
    segments,
    tombstones,
    damagedFiles: state.damage().length,
    segmentBytes,
    memtableBytes: state.memtables.bytes,
    requestMemoryBytes: reading.requestMemory.heldBytes,
    indexBytes,
    postingsBytes: state.databases.postingsBytes,
    ranksBytes: state.databases.ranksBytes,
    openSnapshots: reclaimer.openCount,
    filesWaitingForSnapshots: reclaimer.waitingCount,
    walBytes: wal.fileBytes,
    walRecords: wal.counters.records,
    walSyncs: wal.counters.syncs,
    walFailures: wal.counters.failures,
  };
  return { counters, databases };
}

/** Of an index that is not read, no series has been deleted: its shards have them all. */
function countsOf(
  { state }: EngineParts,
  { name, stored }: Database,
): Pick<DatabaseStatistics, 'seriesCount' | 'measurementCount'> {
  if (stored.isRead) {
    const { measurements, liveSeries } = stored.index;
    const measurementCount = measurements.filter((one) => one.liveSeries > 0).length;
    return { seriesCount: liveSeries, measurementCount };
  }
  const series = new Set<number>();
  const measurements = new Set<number>();
  for (const shard of state.shards.ofDatabase(name)) {
    for (const id of shard.series) series.add(id);
    for (const id of shard.fields.measurementIds()) measurements.add(id);
  }
  return { seriesCount: series.size, measurementCount: measurements.size };
}
