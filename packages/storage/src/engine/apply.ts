// Durable records to memory: what is applied here is visible to the next snapshot.
import { assert } from '@tidemark/core';

import type { Table } from '../memtable/table.ts';
import type { MemtableTables, Shard } from '../shard/shard.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { DeletedRows, DeleteRecord, IndexAdditions } from '../wal/wal-record.ts';

/** Appends rows to the shard's memtable and makes their series visible. */
export function applyRows(index: SeriesIndex, shard: Shard, table: Table): void {
  const { series, rows } = table;
  let last = -1;
  for (let row = 0; row < rows; row++) {
    const id = series[row]!;
    if (id === last) continue;
    last = id;
    if (shard.series.add(id)) index.addedToShard(id);
  }
  shard.activeTable(table.measurementId).appendTable(table);
}

/** Adds measurements and series that a record brings; those that are known already are skipped. */
export function applyAdditions(index: SeriesIndex, additions: IndexAdditions): void {
  const { measurements, series, firstMeasurementId, firstSeriesId } = additions;
  measurements.forEach((name, i) => {
    const id = index.addMeasurement(name).id;
    assert(id === firstMeasurementId + i, 'measurement ids follow the log');
  });
  series.forEach(({ measurementId, tags }, i) => {
    const measurement = index.measurements[measurementId];
    assert(measurement !== undefined, 'measurements precede their series');
    const id = index.addSeries(measurement, tags);
    assert(id === firstSeriesId + i, 'series ids follow the log');
  });
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
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++) {
    const time = table.times[row]!;
    const isCovered = time >= start && time <= end;
    if (!isCovered || (series !== undefined && !series.has(table.series[row]!))) rows.push(row);
  }
  return rows.length === table.rows ? table : table.select(rows);
}
