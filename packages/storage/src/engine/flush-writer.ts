// Frozen tables of a shard to a segment file, series by series.
import type { Disk } from '../disk/disk.ts';
import { RowList } from '../memtable/row-list.ts';
import type { RowPick } from '../memtable/row-pick.ts';
import { orderStretches } from '../memtable/stretch-order.ts';
import type { Table } from '../memtable/table.ts';
import { isStrictlyAscending, mergeRuns, sliceRun } from '../read/run.ts';
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
  options: {
    readonly target: FlushTarget;
    readonly pacer: Pacer;
    /** Hears how many rows have been written since it was called last. */
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

/** What a series costs beside its rows, in rows; looking at the clock for each of them would cost as much again. */
const SERIES_COST_ROWS = 16;
/** About a tenth of a millisecond. */
const ROWS_BETWEEN_PAUSES = 1024;
/** Rows that are copied out of the memtable at once. */
const PORTION_ROWS = 1 << 12;

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
  const portion: Portion = { rows: new RowList(), ordinals: [], ends: [] };
  let sincePause = 0;
  for (let ordinal = table.nextOrdinal(0); ordinal < table.ordinalEnd;) {
    table.listRows(ordinal, table.rows, portion.rows);
    const { length } = portion.rows;
    portion.ordinals.push(ordinal);
    portion.ends.push(length);
    ordinal = table.nextOrdinal(ordinal + 1);
    const isLast = ordinal === table.ordinalEnd;
    if (length + portion.ends.length * SERIES_COST_ROWS < PORTION_ROWS && !isLast) continue;
    for (const series of portionRuns(table, fields, portion)) {
      writer.addRun(series.run);
      writer.endSeries(measurement.seriesId(series.ordinal));
      sincePause += series.run.times.length + SERIES_COST_ROWS;
      if (sincePause < ROWS_BETWEEN_PAUSES) continue;
      sincePause = 0;
      await pacer.pause();
    }
    onRows(length);
    portion.rows.clear();
    portion.ordinals.length = 0;
    portion.ends.length = 0;
  }
  writer.endMeasurement();
}

/** Some neighbouring series and their rows, one behind the other. */
type Portion = { readonly rows: RowList; readonly ordinals: number[]; readonly ends: number[] };

function* portionRuns(
  table: Table,
  fields: readonly SegmentField[],
  { rows, ordinals, ends }: Portion,
): Generator<{ readonly ordinal: number; readonly run: Run }> {
  const numbers = rows.toArray();
  const { pick, times } = pickInOrder(table, numbers, ends);
  const all: Run = { times, columns: fields.map((field) => pick.column(field)) };
  let start = 0;
  for (let i = 0; i < ordinals.length; i++) {
    const end = ends[i]!;
    const run = sliceRun(all, start, end);
    yield { ordinal: ordinals[i]!, run: isStrictlyAscending(run.times) ? run : mergeRuns([run]) };
    start = end;
  }
}

/** The rows of some series, each in the order of its times where that is a matter of whole batches. */
function pickInOrder(
  table: Table,
  rows: Uint32Array,
  ends: readonly number[],
): { readonly pick: RowPick; readonly times: BigInt64Array } {
  const pick = table.pick(rows);
  const times = pick.times();
  let start = 0;
  let hasMoved = false;
  for (const end of ends) {
    if (!isStrictlyAscending(times.subarray(start, end))) {
      hasMoved = orderStretches(rows, times, { start, end }) || hasMoved;
    }
    start = end;
  }
  if (!hasMoved) return { pick, times };
  const moved = table.pick(rows);
  return { pick: moved, times: moved.times() };
}
