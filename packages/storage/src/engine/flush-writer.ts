// Frozen tables of a shard to a segment file.
import type { Disk } from '../disk/disk.ts';
import { orderOfTable } from '../memtable/table-order.ts';
import type { Table } from '../memtable/table.ts';
import { columnOf, mergeRuns, sliceRun, takeRows } from '../read/run.ts';
import type { Run } from '../read/run.ts';
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

/** What a series costs beside its rows, in rows; looking at the clock for each of them would cost as much again. */
const SERIES_COST_ROWS = 16;
/** About a tenth of a millisecond. */
const ROWS_BETWEEN_PAUSES = 1024;
/** Rows that are put in order at once: their columns stay in the cache until they are written. */
const PORTION_ROWS = 1 << 14;

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
  const all: Run = { times: table.times, columns };
  const { starts, rows } = orderOfTable(table, {
    limit: table.rows,
    ordinalOf: (series) => index.ordinalOf(series),
  });
  const ordinals = starts.length - 1;
  writer.beginMeasurement(table.measurementId, fields);
  let sincePause = 0;
  for (let first = 0; first < ordinals;) {
    const end = portionEnd(starts, first);
    const from = starts[first]!;
    const portion = takeRows(all, rows.subarray(from, starts[end]));
    const isOrdered = orderTest(portion.times);
    for (let ordinal = first; ordinal < end; ordinal++) {
      const start = starts[ordinal]! - from;
      const stop = starts[ordinal + 1]! - from;
      if (start === stop) continue;
      const run = sliceRun(portion, start, stop);
      writer.addRun(isOrdered(start, stop) ? run : mergeRuns([run]));
      writer.endSeries(measurement.seriesId(ordinal));
      sincePause += stop - start + SERIES_COST_ROWS;
      if (sincePause < ROWS_BETWEEN_PAUSES) continue;
      sincePause = 0;
      await pacer.pause();
    }
    first = end;
  }
  writer.endMeasurement();
}

/** The series behind the last one whose rows still fit a portion; at least one. */
function portionEnd(starts: Uint32Array, first: number): number {
  const limit = starts[first]! + PORTION_ROWS;
  let end = first + 1;
  while (end + 1 < starts.length && starts[end + 1]! <= limit) end++;
  return end;
}

/** Whether times [start, end) ascend strictly; by words, because a bigint for each of them is slow. */
function orderTest(times: BigInt64Array): (start: number, end: number) => boolean {
  const words = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  return (start, end) => {
    for (let i = 2 * start + 2; i < 2 * end; i += 2) {
      const high = words[i + 1]!;
      const before = words[i - 1]!;
      if (high < before) return false;
      if (high === before && words[i]! >>> 0 <= words[i - 2]! >>> 0) return false;
    }
    return true;
  };
}
