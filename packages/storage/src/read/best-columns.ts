// The columns of the best rows of a group (`BestRows`): tags from the index, other fields from the
// chunks and the memory that have the rows, each read once.
import { columnFrom, columnValue } from '@tidemark/core';
import type { Column, FieldValue } from '@tidemark/core';
import type { BestRows, FieldRef, MeasurementAggregates, SourceCounters } from '@tidemark/query';

import { shardOverlaps } from '../columns/overlaps.ts';
import { lowerBound } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { Selection } from './groups.ts';
import type { RequestMemory } from './request-memory.ts';
import { pieceSources } from './pieces.ts';
import { readSeries } from './series-reader.ts';
import type { StoredPoints } from './windows.ts';

export type BestColumnsWork = {
  readonly selection: Selection;
  readonly request: MeasurementAggregates;
  readonly counters: SourceCounters;
  readonly memory: RequestMemory;
};

/** The points with the wanted columns of their rows. */
export function* withBestColumns(
  points: StoredPoints,
  { columns }: BestRows,
  work: BestColumnsWork,
): Generator<undefined, StoredPoints> {
  const { series, ...each } = points;
  if (series === undefined) return points;
  const fields = columns.flatMap((column) => (column.kind === 'field' ? column : []));
  const read = new Map(
    fields.map((field) => [field, Array.from(series, (): FieldValue | null => null)]),
  );
  if (fields.length > 0) yield* readFields({ series, times: points.times! }, [...read], work);
  const wanted = columns.map((column): Column => {
    if (column.kind === 'field') return columnFrom(column.type, read.get(column)!);
    return tagColumn(series, column.name, work);
  });
  return { ...each, columns: wanted };
}

function tagColumn(
  series: Uint32Array,
  name: string,
  { selection: { database, measurement }, memory }: BestColumnsWork,
): Column {
  const { index } = database;
  const symbols = measurement.column(name)?.values;
  let textBytes = 0;
  const texts = Array.from(series, (id) => {
    const stored = symbols?.[index.ordinalOf(id as SeriesId)] ?? 0;
    if (stored === 0) return null;
    const text = index.symbol(stored - 1);
    textBytes += 2 * text.length;
    memory.check(textBytes, 'tags of the best rows');
    return text === '' ? null : text;
  });
  return columnFrom('string', texts);
}

type Rows = { readonly series: Uint32Array; readonly times: BigInt64Array };

/** Reads the fields of rows, series by series. */
function* readFields(
  { series, times }: Rows,
  fields: readonly (readonly [FieldRef, (FieldValue | null)[]])[],
  work: BestColumnsWork,
): Generator<undefined> {
  const bySeries = new Map<number, number[]>();
  for (const [row, id] of series.entries()) {
    const rows = bySeries.get(id);
    if (rows === undefined) bySeries.set(id, [row]);
    else rows.push(row);
  }
  const { selection, counters, memory } = work;
  const { shards } = selection;
  const refs = fields.map(([field]) => field);
  let textBytes = 0;
  for (const [id, rows] of bySeries) {
    rows.sort((a, b) => (times[a]! < times[b]! ? -1 : 1));
    const wanted = BigInt64Array.from(rows, (row) => times[row]!);
    const timeRange = { start: wanted[0]!, end: wanted.at(-1)! };
    for (const view of shards) {
      if (!view.series.has(id as SeriesId) || !shardOverlaps(view.shard.descriptor, timeRange)) {
        continue;
      }
      // The rows were counted when the best of them were found.
      const asked = { selection, fields: refs, presenceOnly: false, timeRange };
      const read = { ...asked, memory, counters: { ...counters } };
      for (const { chunk, load } of readSeries(pieceSources(view, read), id as SeriesId, read)) {
        yield undefined;
        const span = chunk?.span;
        if (span !== undefined && !hasTime(wanted, span.minTime, span.maxTime)) continue;
        const run = load();
        const [first, last] = [run.times[0], run.times.at(-1)];
        if (first === undefined || last === undefined) continue;
        const end = lowerBound(wanted, last + 1n);
        for (let i = lowerBound(wanted, first); i < end; i++) {
          const at = lowerBound(run.times, wanted[i]!);
          if (run.times[at] !== wanted[i]) continue;
          const row = rows[i]!;
          for (const [place, [, values]] of fields.entries()) {
            const column = run.columns[place];
            const value = column === undefined ? null : columnValue(column, at);
            values[row] = value;
            if (typeof value === 'string') textBytes += 2 * value.length;
          }
        }
        memory.check(textBytes, 'texts of the best rows');
      }
    }
  }
}

/** Whether one of the times, which ascend, is in a span. */
function hasTime(times: BigInt64Array, min: bigint, max: bigint): boolean {
  const at = lowerBound(times, min);
  return at < times.length && times[at]! <= max;
}
