// The engine's counters, for `/metrics`, `SHOW STATS` and the monitor.
import type { DatabaseStatistics, StorageStatistics } from '@tidemark/storage-api';

import type { EngineParts } from './parts.ts';

export function statisticsOf(parts: EngineParts): StorageStatistics {
  const { state, wal, reclaimer, reading, writes, flush, compaction } = parts;
  const databases: DatabaseStatistics[] = [];
  let indexBytes = 0;
  for (const { name, index, rebuild } of state.databases.all()) {
    const measurementCount = index.measurements.filter((m) => m.liveSeries > 0).length;
    databases.push({ database: name, seriesCount: index.liveSeries, measurementCount });
    indexBytes += index.memoryBytes + (rebuild?.stored.index.memoryBytes ?? 0);
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
