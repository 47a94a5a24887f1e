// SeriesSource.scan over a snapshot. Generators yield batches, and `undefined` where the slicer may
// pause.
import type { Column } from '@tidemark/core';
import { columnFrom } from '@tidemark/core';
import type { FieldRef, ScanRequest, SeriesBatch } from '@tidemark/query';

import { scans } from '../columns/codecs.ts';
import type { ShardView, Snapshot } from '../state/snapshot.ts';
import { residualCondition } from '../series/select.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { convertColumn } from './convert.ts';
import { select } from './groups.ts';
import type { Selection } from './groups.ts';
import type { LastRowPlace } from './last-rows.ts';
import type { ReadOptions } from './damaged-data.ts';
import {
  conditionColumn,
  evaluate,
  rowsOfChunk,
  rowsOfRun,
  withConditionFields,
} from './row-filter.ts';
import { filterRun, reverseRun, sliceRun } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { cutByTexts, withUsedTexts } from '../columns/run-texts.ts';
import { convertRun, readSeries } from './series-reader.ts';
import type { SeriesPart } from './series-reader.ts';
import type { WantedField } from './convert.ts';

export function* scan(
  snapshot: Snapshot,
  request: ScanRequest,
  budget: ReadOptions,
): Generator<SeriesBatch | undefined> {
  const { counters, memory, lastRows } = budget;
  const selection = yield* select(snapshot, request, budget);
  if (selection === undefined) return;
  const { database, shards } = selection;
  const lastFields =
    request.descending && request.limitPerSeries === 1 ? JSON.stringify(request.fields) : undefined;
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
        const { timeRange } = request;
        const place =
          condition === undefined && left === 1 && lastFields !== undefined
            ? placeOf(selection, view, { series, fields: lastFields, timeRange })
            : undefined;
        const known = place && lastRows.get(place);
        if (known !== undefined) {
          yield toBatch(known, request, { seriesKey, tags });
          left = 0;
          break;
        }
        const source = { database, series, fields, timeRange, counters, memory };
        for (const part of readSeries(view, source, request)) {
          if (place !== undefined) {
            const last = lastRow(part.chunk, request);
            if (last !== undefined) {
              counters.chunksAnsweredByStatistics++;
              lastRows.set(place, last);
              yield toBatch(last, request, { seriesKey, tags });
              left = 0;
              break;
            }
          }
          const kept = inOrder(
            keepRows(part, { condition, fields, request, left }),
            left,
            request.descending,
          );
          left -= kept.times.length;
          if (place !== undefined && kept.times.length === 1) lastRows.set(place, kept);
          if (kept.times.length > 0) {
            for (const piece of cutByTexts(kept, BATCH_TEXT_BYTES)) {
              yield toBatch(withUsedTexts(piece), request, { seriesKey, tags });
            }
          }
          if (left <= 0) break;
          yield undefined;
        }
      }
    }
  }
}

function placeOf(
  { database, measurement }: Selection,
  view: ShardView,
  asked: Pick<LastRowPlace, 'series' | 'fields' | 'timeRange'>,
): LastRowPlace {
  const ordinal = database.index.ordinalOf(asked.series);
  return { view, measurementId: measurement.id, ordinal, ...asked };
}

/**
 * The last row of a chunk from its statistics. `undefined` when they do not tell it: when a column
 * has nulls or another type than the wanted one.
 */
function lastRow(chunk: ChunkReader | undefined, request: ScanRequest): Run | undefined {
  if (chunk?.isWhole !== true) return undefined;
  const columns: (Column | undefined)[] = [];
  for (let i = 0; i < request.fields.length; i++) {
    const column = chunk.columns[i];
    const type = chunk.type(i);
    if (column === undefined || type === undefined) columns.push(undefined);
    else if (column.statistics === undefined || column.validBytes > 0) return undefined;
    else if (type !== request.fields[i]?.type) return undefined;
    else columns.push(columnFrom(type, [column.statistics.last]));
  }
  if (columns.every((column) => column === undefined)) return undefined;
  return { times: BigInt64Array.of(chunk.meta.maxTime), columns };
}

/**
 * Texts of a batch. It waits for its reader together with others, so it is as small as a message.
 */
const BATCH_TEXT_BYTES = 256 << 10;

type RowChoice = {
  readonly condition: ScanRequest['where'];
  readonly fields: readonly WantedField[];
  readonly request: ScanRequest;
  /** So many rows are needed at most. */
  readonly left: number;
};

/** At most `left` rows in the order of the request. */
function inOrder(run: Run, left: number, descending: boolean): Run {
  const { length } = run.times;
  if (!descending) return sliceRun(run, 0, Math.min(left, length));
  return reverseRun(sliceRun(run, Math.max(0, length - left), length));
}

/**
 * The rows that satisfy the condition and have at least one wanted field, with only the wanted
 * columns.
 */
function keepRows(part: SeriesPart, choice: RowChoice): Run {
  const { condition, fields, request, left } = choice;
  const { fields: wanted, descending } = request;
  const { chunk } = part;
  const columnIndex = conditionColumn(fields, wanted.length);
  if (chunk !== undefined && condition === undefined && left < chunk.meta.rows) {
    if (chunk.hasFullColumn(wanted, wanted.length)) {
      chunk.narrow(left, descending ? 'last' : 'first');
    }
  }
  if (chunk !== undefined && condition !== undefined) {
    // The condition is evaluated first: of the other columns, only the rows that it keeps are
    // decoded.
    const mask = evaluate(condition, rowsOfChunk(chunk), columnIndex);
    return withoutEmptyRows(chosenRows(chunk, wanted, mask));
  }
  const run = part.load();
  const result: Run = { times: run.times, columns: run.columns.slice(0, wanted.length) };
  if (condition === undefined) return withoutEmptyRows(result);
  return withoutEmptyRows(filterRun(result, evaluate(condition, rowsOfRun(run), columnIndex)));
}

function chosenRows(chunk: ChunkReader, wanted: readonly FieldRef[], mask: Uint8Array): Run {
  const run = chunk.chosen(mask, wanted.length);
  if (run !== undefined) return convertRun(run, wanted);
  const times = scans().selectTimes(chunk.times, mask);
  if (times.length === 0) return { times, columns: wanted.map(() => undefined) };
  const columns = wanted.map(({ type }, i) => {
    const column = chunk.column(i, times.length === mask.length ? undefined : mask);
    return column && convertColumn(column, type);
  });
  return { times, columns };
}

function withoutEmptyRows(run: Run): Run {
  const { columns, times } = run;
  if (columns.some((c) => c !== undefined && c.valid === undefined)) return run;
  const keep = new Uint8Array(times.length);
  for (const column of columns) {
    const valid = column?.valid;
    if (valid !== undefined) for (let i = 0; i < keep.length; i++) keep[i]! |= valid[i]!;
  }
  return filterRun(run, keep);
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
