// Durable records to memory: what is applied here is visible to the next snapshot.
import type { RowBlock } from '../columns/row-block.ts';
import { stretchStarts } from '../memtable/stretches.ts';
import type { Table } from '../memtable/table.ts';
import type { SeriesSet } from '../series/series-set.ts';
import type { MemtableTables, Shard } from '../shard/shard.ts';
import { coverage, deletedRanges, withoutRanges } from '../shard/tombstone.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { DeletedRows, DeleteRecord, IndexAdditions } from '../wal/wal-record.ts';

/** Gives rows to the shard's memtable and makes their series visible. Returns the bytes it took. */
export function applyRows(index: SeriesIndex, shard: Shard, block: RowBlock): number {
  const { series, rows } = block;
  const starts = stretchStarts(series, rows);
  for (const start of starts) {
    const id = series[start]!;
    if (shard.series.add(id)) index.addedToShard(id);
  }
  if (shard.active.size === 0) shard.activeSinceMs = shard.lastWriteMs;
  const before = shard.active.get(block.measurementId)?.memoryBytes ?? 0;
  const target = shard.activeTable(block.measurementId, index);
  target.append(block, starts);
  return target.memoryBytes - before;
}

/**
 * Adds measurements and series that a record brings; those that are known already are skipped.
 * Entries that a damaged file lost are stood in for, so that later ids keep their meaning.
 */
export function applyAdditions(index: SeriesIndex, additions: IndexAdditions): void {
  const { measurements, series, firstMeasurementId, firstSeriesId } = additions;
  padIndex(index, { measurements: firstMeasurementId, series: firstSeriesId });
  measurements.forEach((name, i) => {
    if (firstMeasurementId + i < index.measurements.length) return;
    const { id } = index.addMeasurement(name);
    if (id !== firstMeasurementId + i)
      padIndex(index, { measurements: firstMeasurementId + i + 1, series: 0 });
  });
  padIndex(index, { measurements: series.measurementIdEnd, series: 0 });
  index.insert(series, firstSeriesId);
}

/** Stands in for lost entries, so that the index has at least the given numbers of them. */
export function padIndex(
  index: SeriesIndex,
  counts: { readonly measurements: number; readonly series: number },
): void {
  while (index.measurements.length < counts.measurements) {
    // No line of line protocol can begin with this: the name is free.
    index.addMeasurement(`\u0000lost ${index.measurements.length}`);
  }
  while (index.seriesEnd < counts.series) {
    const owner = index.measurements[0] ?? index.addMeasurement('\u0000lost 0');
    index.addSeries(owner, [['\u0000lost', String(index.seriesEnd)]]);
  }
}

/** Removes the rows a delete covers from a memtable. Readers keep the old tables. */
export function deleteFromMemtable(tables: MemtableTables, record: DeleteRecord): void {
  for (const rows of record.rows) {
    const table = tables.get(rows.measurementId);
    if (table === undefined) continue;
    const kept = withoutDeleted(table, rows, record);
    if (kept.rows === table.rows) continue;
    if (kept.rows === 0) tables.delete(rows.measurementId);
    else tables.set(rows.measurementId, kept);
  }
}

function withoutDeleted(table: Table, deleted: DeletedRows, record: DeleteRecord): Table {
  const { start, end } = record.timeRange;
  const series = deleted.series === undefined ? undefined : new Set(deleted.series);
  return table.without((block, row) => {
    const time = block.times[row]!;
    if (time < start || time > end) return false;
    return series === undefined || series.has(block.series[row]!);
  });
}

/**
 * The series that still have rows in the shard after a delete; the index forgets the others.
 * Segments count by their chunks: one that is not covered whole counts as data.
 */
export function dropEmptySeries(index: SeriesIndex, shard: Shard, record: DeleteRecord): SeriesSet {
  const kept = shard.series.clone();
  for (const { measurementId, series } of record.rows) {
    const measurement = index.measurements[measurementId];
    if (measurement === undefined) continue;
    const inMemory = new Set<number>();
    for (const tables of [shard.active, shard.frozen]) {
      for (const block of tables?.get(measurementId)?.blocks ?? []) {
        for (let row = 0; row < block.rows; row++) inMemory.add(block.series[row]!);
      }
    }
    for (const id of series ?? measurement.seriesIds()) {
      if (inMemory.has(id) || !kept.has(id) || hasRowsInSegments(shard, measurementId, id))
        continue;
      kept.delete(id);
      index.removedFromShard(id);
    }
  }
  return kept;
}

/** Whether a segment of the shard holds rows of the series that no tombstone covers. */
export function hasRowsInSegments(shard: Shard, measurementId: number, series: number): boolean {
  // What is in a segment that can not be opened is not known.
  if (shard.damage !== undefined) return true;
  try {
    return findRowsInSegments(shard, measurementId, series);
  } catch {
    // A block that can not be read proves nothing: the series stays listed, and reading it reports
    // the damage.
    return true;
  }
}

function findRowsInSegments(shard: Shard, measurementId: number, series: number): boolean {
  for (const segment of shard.segments) {
    const measurement = segment.measurement(measurementId);
    if (measurement === undefined) continue;
    const { sequence } = segment.info;
    const deleted = deletedRanges(shard.tombstones, { measurementId, series, sequence });
    for (const chunk of segment.chunks(measurement, series)) {
      switch (coverage(deleted, chunk.minTime, chunk.maxTime)) {
        case 'none':
          return true;
        case 'part': {
          const times = segment.times(chunk);
          if (withoutRanges({ times, columns: [] }, deleted).times.length > 0) return true;
          break;
        }
        case 'all':
          break;
      }
    }
  }
  return false;
}
