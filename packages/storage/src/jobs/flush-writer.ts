// Writes the frozen tables of a shard to a segment file, series by series.
import type { Table } from '../memtable/table.ts';
import { tableRowsWithin } from '../memtable/table-rows.ts';
import type { TableRows } from '../memtable/table-rows.ts';
import type { Run } from '../columns/run.ts';
import type { SegmentField } from '../segment/format.ts';
import { SegmentWriter } from '../segment/writer.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { MemtableTables } from '../memtable/memtables.ts';
import type { SegmentTarget } from '../state/segment-files.ts';
import { noteShortLived } from '../columns/short-lived.ts';
import type { Pacer } from '../schedule/pacer.ts';
import { writeWideRows } from './wide-series.ts';
import type { WideRows } from './wide-series.ts';

/** Writes and syncs the segment; returns its size. The file is removed when anything fails. */
export async function writeTables(
  tables: MemtableTables,
  index: SeriesIndex,
  options: {
    readonly target: SegmentTarget;
    readonly pacer: Pacer;
    /** Called with the number of rows written since its last call. */
    readonly onRows: (count: number) => void;
  },
): Promise<number> {
  const { disk, path, shardId } = options.target;
  const writer = new SegmentWriter(disk, path, shardId);
  try {
    for (const table of tables.values()) await writeTable(writer, table, index, options);
    return await writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  }
}

/**
 * Rows times fields that are copied at once at most: more than a full memtable usually holds.
 */
const PORTION_PLACES = 1 << 23;

async function writeTable(
  writer: SegmentWriter,
  table: Table,
  index: SeriesIndex,
  { pacer, onRows }: { readonly pacer: Pacer; readonly onRows: (count: number) => void },
): Promise<void> {
  const measurement = index.measurements[table.measurementId];
  if (measurement === undefined || table.rows === 0) return;
  const fields: SegmentField[] = Array.from(table.fields, ([name, type]) => ({ name, type }));
  writer.beginMeasurement(table.measurementId, fields);
  const portions = tableRowsWithin(
    { table, rows: table.rows },
    (ordinal) => measurement.seriesId(ordinal),
    PORTION_PLACES / Math.max(1, fields.length),
  );
  for (const rows of portions) {
    if (rows !== undefined) await pacer.run(writePortion(writer, rows, { table, fields }));
    await pacer.pause();
    onRows(rows?.count ?? 0);
  }
  writer.endMeasurement();
}

type PortionSource = { readonly table: Table; readonly fields: readonly SegmentField[] };

/**
 * Pauses after each field and chunk: ten fields of a portion take five milliseconds, and a series
 * may have any number of rows.
 */
function* writePortion(
  writer: SegmentWriter,
  rows: TableRows,
  { table, fields }: PortionSource,
): Generator<undefined, void> {
  const { times, runs } = rows;
  if (rows.count * fields.length > PORTION_PLACES) {
    const valuesPerRow = table.valueCount / table.rows;
    for (const [i, id] of runs.ids.entries()) {
      const ofSeries = wideRowsOf(rows.ofSeries(i), fields, valuesPerRow);
      yield* writeWideRows(writer, ofSeries, fields);
      writer.endSeries(id);
    }
    return;
  }
  yield undefined;
  const columns: Run['columns'][number][] = [];
  for (const field of fields) {
    columns.push(rows.column(field));
    yield undefined;
  }
  // The columns, the times, and the numbers of the rows.
  noteShortLived(times.byteLength * (2 + columns.length));
  const all = rows.leftOfSeries({ times, columns });
  yield* writer.addSeriesRowsInSteps(all, rows.isAscending ? runs : undefined);
}

/** The rows of a series, for columns that do not fit into memory together. */
function wideRowsOf(
  rows: TableRows,
  fields: readonly SegmentField[],
  valuesPerRow: number,
): WideRows {
  return {
    times: rows.times,
    valueCount: valuesPerRow * rows.count,
    pick: (some) => {
      const pick = rows.pick(some);
      return (field) => pick.column(fields[field]!);
    },
  };
}
