// Writes the frozen tables of a shard to a segment file, series by series.
import { Uint32List } from '../columns/uint32-list.ts';
import type { RowPick } from '../memtable/row-pick.ts';
import { orderRuns } from '../memtable/run-order.ts';
import type { Table } from '../memtable/table.ts';
import { runStart, unorderedRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { mergeSeriesRows } from '../columns/series-rows.ts';
import type { SegmentField } from '../segment/format.ts';
import { seriesOfRows } from '../segment/shared-page.ts';
import { SegmentWriter } from '../segment/writer.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
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
 * The cost of a series beside that of its rows, in rows. It makes portions of short series smaller.
 */
const SERIES_COST_ROWS = 4;
/** Rows copied out of the memtable at once; rows of one series are not divided. */
const PORTION_ROWS = 1 << 13;
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
  const portion: Portion = {
    rows: new Uint32List(),
    ordinals: new Uint32List(),
    ends: new Uint32List(),
  };
  const rowsMax = Math.min(PORTION_ROWS, PORTION_PLACES / Math.max(1, fields.length));
  for (let ordinal = table.nextOrdinal(0); ordinal < table.ordinalEnd;) {
    table.listRows(ordinal, table.rows, portion.rows);
    const { length } = portion.rows;
    portion.ordinals.push(ordinal);
    portion.ends.push(length);
    ordinal = table.nextOrdinal(ordinal + 1);
    const isLast = ordinal === table.ordinalEnd;
    if (length + portion.ends.length * SERIES_COST_ROWS < rowsMax && !isLast) continue;
    const source = { table, fields, measurement };
    await pacer.run(writePortion(writer, portion, source));
    await pacer.pause();
    onRows(length);
    portion.rows.clear();
    portion.ordinals.clear();
    portion.ends.clear();
  }
  writer.endMeasurement();
}

/** Some neighbouring series and their rows, one after another. */
type Portion = {
  readonly rows: Uint32List;
  readonly ordinals: Uint32List;
  readonly ends: Uint32List;
};

type PortionSource = {
  readonly table: Table;
  readonly fields: readonly SegmentField[];
  readonly measurement: MeasurementIndex;
};

/**
 * Pauses after each field and chunk: ten fields of a portion take five milliseconds, and a series
 * may have any number of rows.
 */
function* writePortion(
  writer: SegmentWriter,
  portion: Portion,
  source: PortionSource,
): Generator<undefined, void> {
  const { table, fields, measurement } = source;
  const rows = portion.rows.toArray();
  const ends = portion.ends.toArray();
  const ids = portion.ordinals.toArray();
  for (let i = 0; i < ids.length; i++) ids[i] = measurement.seriesId(ids[i]!);
  if (rows.length * fields.length > PORTION_PLACES) {
    const valuesPerRow = table.valueCount / table.rows;
    for (const [i, id] of ids.entries()) {
      const ofSeries = rows.subarray(runStart(ends, i), ends[i]);
      yield* writeWideRows(writer, wideRowsOf(ofSeries, { ...source, valuesPerRow }), fields);
      writer.endSeries(id);
    }
    return;
  }
  const { pick, times, isAscending } = pickInOrder(table, rows, ends);
  yield undefined;
  const columns: Run['columns'][number][] = [];
  for (const field of fields) {
    columns.push(pick.column(field));
    yield undefined;
  }
  // The columns, the times, and the numbers of the rows.
  noteShortLived(times.byteLength * (2 + columns.length));
  const all = { series: seriesOfRows(ids, ends), times, columns };
  if (isAscending) yield* writer.addSeriesRowsInSteps(all, { ids, ends });
  else yield* writer.addSeriesRowsInSteps(mergeSeriesRows([all]));
}

/** The rows of a series, for columns that do not fit into memory together. */
function wideRowsOf(
  rows: Uint32Array,
  { table, fields, valuesPerRow }: PortionSource & { readonly valuesPerRow: number },
): WideRows {
  return {
    times: table.pick(rows).times(),
    valueCount: valuesPerRow * rows.length,
    pick: (some) => {
      const pick = table.pick(some.map((row) => rows[row]!));
      return (field) => pick.column(fields[field]!);
    },
  };
}

/**
 * Picks the rows of some series, and sorts those of each by time where whole batches came out of
 * order.
 */
function pickInOrder(
  table: Table,
  rows: Uint32Array,
  ends: Uint32Array,
): {
  readonly pick: RowPick;
  readonly times: BigInt64Array;
  /** Whether the times of every series ascended strictly, so that nothing was moved. */
  readonly isAscending: boolean;
} {
  const pick = table.pick(rows);
  const times = pick.times();
  const unordered = unorderedRuns(times, ends);
  let hasMoved = false;
  for (const index of unordered) {
    const start = runStart(ends, index);
    hasMoved = orderRuns(rows, times, { start, end: ends[index]! }) || hasMoved;
  }
  const isAscending = unordered.length === 0;
  if (!hasMoved) return { pick, times, isAscending };
  const moved = table.pick(rows);
  return { pick: moved, times: moved.times(), isAscending };
}
