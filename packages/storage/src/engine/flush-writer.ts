// Frozen tables of a shard to a segment file.
import type { Disk } from '../disk/disk.ts';
import { rowsOfSeries } from '../memtable/table-order.ts';
import type { Table } from '../memtable/table.ts';
import { columnOf, mergeRuns, takeRows } from '../read/run.ts';
import type { SegmentField } from '../segment/format.ts';

import { SegmentWriter } from '../segment/writer.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { MemtableTables } from '../shard/shard.ts';
import type { Pacer } from './pacer.ts';

export type FlushTarget = { readonly disk: Disk; readonly path: string; readonly shardId: number };

/** Writes and syncs the segment; returns its size. The file is removed when anything fails. */
export async function writeTables(
  tables: MemtableTables,
  index: SeriesIndex,
  options: { readonly target: FlushTarget; readonly pacer: Pacer },
): Promise<number> {
  const { disk, path, shardId } = options.target;
  const writer = new SegmentWriter(disk, path, shardId);
  try {
    for (const table of tables.values()) await writeTable(writer, table, index, options.pacer);
    return await writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  }
}

async function writeTable(
  writer: SegmentWriter,
  table: Table,
  index: SeriesIndex,
  pacer: Pacer,
): Promise<void> {
  const measurement = index.measurements[table.measurementId];
  if (measurement === undefined || table.rows === 0) return;
  const fields: SegmentField[] = table.columns.map(({ name, type }) => ({ name, type }));
  const columns = table.columns.map(({ type, values, valid, pool }) =>
    columnOf(type, { values, valid, dictionary: pool?.texts }),
  );
  const view = { limit: table.rows, ordinalOf: (series: number) => index.ordinalOf(series) };
  writer.beginMeasurement(table.measurementId, fields);
  for (let ordinal = 0; ordinal < measurement.seriesCount; ordinal++) {
    const rows = rowsOfSeries(table, ordinal, view);
    if (rows.length === 0) continue;
    writer.addRun(mergeRuns([takeRows({ times: table.times, columns }, rows)]));
    writer.endSeries(measurement.seriesId(ordinal));
    await pacer.pause();
  }
  writer.endMeasurement();
}
