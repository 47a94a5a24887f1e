// SeriesSource.scan over a snapshot. Generators yield batches, and `undefined` where the slicer may pause them.
import type { Column } from '@tidemark/core';
import { columnFrom } from '@tidemark/core';
import type { ScanRequest, SeriesBatch, SourceCounters } from '@tidemark/query';

import type { Snapshot } from '../engine/snapshot.ts';
import { residualCondition } from '../series/select.ts';
import { select } from './groups.ts';
import { evaluate, fieldsOf } from './row-filter.ts';
import { filterRun, reverseRun, sliceRun } from './run.ts';
import type { Run } from './run.ts';
import { readSeries } from './series-reader.ts';
import type { WantedField, WholeChunk } from './series-reader.ts';

export function* scan(
  snapshot: Snapshot,
  request: ScanRequest,
  counters: SourceCounters,
): Generator<SeriesBatch | undefined> {
  const selection = select(snapshot, request);
  if (selection === undefined) return;
  const { database, shards } = selection;
  for (const group of selection.groups) {
    for (const series of group.series) {
      counters.seriesVisited++;
      const seriesKey = database.index.seriesKey(series);
      const tags = new Map(database.index.tags(series));
      const condition = residualCondition(request.where, tags);
      const fields = withConditionFields(request.fields, condition);
      let left = request.limitPerSeries ?? Number.POSITIVE_INFINITY;
      for (const view of shards) {
        if (left <= 0) break;
        if (!view.series.has(series)) continue;
        const source = { database, series, fields, timeRange: request.timeRange, counters };
        for (const part of readSeries(view, source, request)) {
          if (left === 1 && request.descending && condition === undefined) {
            const last = lastRow(part.chunk, request);
            if (last !== undefined) {
              counters.chunksAnsweredByStatistics++;
              yield toBatch(last, request, { seriesKey, tags });
              left = 0;
              break;
            }
          }
          let kept = keepRows(part.load(), { condition, fields, wanted: request.fields.length });
          if (request.descending) kept = reverseRun(kept);
          if (kept.times.length > left) kept = sliceRun(kept, 0, left);
          left -= kept.times.length;
          if (kept.times.length > 0) yield toBatch(kept, request, { seriesKey, tags });
          if (left <= 0) break;
          yield undefined;
        }
      }
    }
  }
}

/** The last row of a chunk from its statistics, when they tell it: no column with nulls, all of the wanted types. */
function lastRow(chunk: WholeChunk | undefined, request: ScanRequest): Run | undefined {
  if (chunk === undefined) return undefined;
  const columns: (Column | undefined)[] = [];
  for (let i = 0; i < request.fields.length; i++) {
    const column = chunk.columns[i];
    const type = chunk.types[i];
    if (column === undefined || type === undefined) columns.push(undefined);
    else if (column.statistics === undefined || column.validBytes > 0) return undefined;
    else if (type !== request.fields[i]?.type) return undefined;
    else columns.push(columnFrom(type, [column.statistics.last]));
  }
  if (columns.every((column) => column === undefined)) return undefined;
  return { times: BigInt64Array.of(chunk.meta.maxTime), columns };
}

/** The requested fields, then those that only the condition reads (in their stored type). */
export function withConditionFields(
  fields: readonly WantedField[],
  condition: ScanRequest['where'],
): readonly WantedField[] {
  if (condition === undefined) return fields;
  return [...fields, ...fieldsOf(condition).map((name) => ({ name }))];
}

/** Rows that satisfy the condition and hold at least one wanted field, cut to the wanted columns. */
export function keepRows(
  run: Run,
  options: {
    readonly condition: ScanRequest['where'];
    readonly fields: readonly WantedField[];
    readonly wanted: number;
  },
): Run {
  const { condition, fields, wanted } = options;
  let keep: Uint8Array | undefined;
  if (condition !== undefined) {
    const firstExtra = (name: string): number =>
      fields.findIndex((field, i) => i >= wanted && field.name === name);
    keep = evaluate(condition, run, firstExtra);
  }
  const result: Run = { times: run.times, columns: run.columns.slice(0, wanted) };
  const isFull = result.columns.some((c) => c !== undefined && c.valid === undefined);
  if (!isFull) {
    keep ??= new Uint8Array(run.times.length).fill(1);
    for (let i = 0; i < keep.length; i++) {
      if (!result.columns.some((c) => c?.valid?.[i] === 1)) keep[i] = 0;
    }
  }
  return keep === undefined ? result : filterRun(result, keep);
}

function toBatch(
  run: Run,
  request: ScanRequest,
  series: Pick<SeriesBatch, 'seriesKey' | 'tags'>,
): SeriesBatch {
  const { times } = run;
  const columns = run.columns.map((column, i): Column => {
    const type = request.fields[i]?.type ?? 'float';
    return (
      column ??
      columnFrom(
        type,
        Array.from({ length: times.length }, () => null),
      )
    );
  });
  return { ...series, times, columns };
}
