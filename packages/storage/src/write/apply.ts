// Durable records to memory: what is applied here is visible to the next snapshot.
import type { RowBlock } from '../columns/row-block.ts';
import { stretchStarts } from '../memtable/stretches.ts';
import type { Table } from '../memtable/table.ts';
import type { MemtableTables, Shard } from '../shard/shard.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { DeletedRows, DeleteRecord } from '../wal/wal-record.ts';

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
