// SeriesSource.scan over a snapshot. Generators yield batches, and `undefined` where the slicer may
// pause.
import type { Column, FieldType, TimeRange } from '@tidemark/core';
import { columnFrom } from '@tidemark/core';
import type { EndedGroup, ScanRequest, SeriesBatch } from '@tidemark/query';

import { nullColumn } from '../columns/null-column.ts';
import { shardOverlaps } from '../columns/overlaps.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ShardView, Snapshot } from '../state/snapshot.ts';
import type { SeriesSet } from '../series/series-set.ts';
import { commonResidual } from '../series/select.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { FirstTimes } from './first-times.ts';
import { select } from './groups.ts';
import type { Selection } from './groups.ts';
import type { LastRowPlace } from './last-rows.ts';
import type { ReadOptions } from './damaged-data.ts';
import { keptRows } from './kept-rows.ts';
import { rangeOfFirst } from './range-of-first.ts';
import { rowFilters } from './row-filter.ts';
import type { RowFilter } from './row-filter.ts';
import { filterRun, reverseRun, sliceRun } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { BATCH_TEXT_BYTES, cutByTexts, withUsedTexts } from '../columns/run-texts.ts';
import { SentTies } from './sent-ties.ts';
import { seriesWithin } from './series-within.ts';
import type { SeriesGroup } from './series-groups.ts';
import { pieceSources } from './pieces.ts';
import { readSeries } from './series-reader.ts';
import type { SeriesPart } from './series-reader.ts';
import type { WantedField } from './convert.ts';

export function* scan(
  snapshot: Snapshot,
  request: ScanRequest,
  budget: ReadOptions,
): Generator<SeriesBatch | undefined> {
  const selection = yield* select(snapshot, request, budget);
  if (selection === undefined) return;
  const { timeRange, descending, limitPerGroup } = request;
  const filterOf = rowFilters(request.where, request.fields, selection.database);
  const lastFields =
    descending && request.limitPerSeries === 1 ? JSON.stringify(request.fields) : undefined;
  for (const { series, tags, isByTies } of selection.groups) {
    const first =
      limitPerGroup === undefined
        ? undefined
        : new FirstTimes(limitPerGroup, descending, request.rowsBehind);
    const isEnded = endOf(budget.ended, tags);
    const ties = isByTies ? new SentTies(selection, request.tieTags ?? []) : undefined;
    const group = { selection, request, budget, filterOf, lastFields, first, ties, isEnded };
    const found =
      limitPerGroup !== undefined && decodesTexts(request)
        ? yield* rangeOfFirst({ series, selection, request, limit: limitPerGroup, budget })
        : undefined;
    const range = found?.range ?? timeRange;
    // Looked for again whenever twice as many series have been read: fewer are left then.
    let readSinceFull = 0;
    let isDue = false;
    let within: SeriesSet | undefined;
    for (const [position, each] of series.entries()) {
      if (isEnded()) break;
      if (isDue && first !== undefined) {
        // What holds for the ties of a series holds for those of all behind it.
        const needed = first.within(range, ties?.areBehind(each));
        within = yield* seriesWithin(selection, needed, series.length);
        isDue = false;
        if (within?.size === 0) break;
      }
      if (within?.has(each) === false || found?.isOutside(position) === true) continue;
      yield* scanSeries(each, range, group);
      const isLookedFor = series.length >= NARROWED_SERIES || ties !== undefined;
      if (isLookedFor && first?.isFull === true) isDue = isPowerOfTwo(++readSinceFull);
    }
  }
}

/**
 * With fewer series in a group, looking for those within a range takes longer than reading them,
 * unless most of them can be left out because of their ties.
 */
const NARROWED_SERIES = 1024;

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}

/** Tells whether the reader has ended the group with these tags. */
function endOf(ended: EndedGroup | undefined, tags: SeriesGroup['tags']): () => boolean {
  let seen: readonly string[] | undefined;
  let isOver = false;
  return () => {
    if (ended === undefined || ended.tags === seen) return isOver;
    seen = ended.tags;
    const own = [...tags().values()];
    isOver = seen !== undefined && own.every((value, i) => value === seen?.[i]);
    return isOver;
  };
}

/** A few texts of a block take nearly as long as all of them. */
function decodesTexts({ fields, where }: ScanRequest): boolean {
  const residual = commonResidual(where);
  const isForAll = residual !== undefined && residual.condition === undefined;
  return isForAll && fields.some(({ type }) => type === 'string');
}

type GroupScan = {
  readonly selection: Selection;
  readonly request: ScanRequest;
  readonly budget: ReadOptions;
  readonly filterOf: (series: SeriesId) => RowFilter;
  /** The wanted fields, when the last row of a series is requested. */
  readonly lastFields: string | undefined;
  /** Times of the rows of the group that are needed; `undefined` when all are. */
  readonly first: FirstTimes | undefined;
  /** Present when the series are in the order of their ties. */
  readonly ties: SentTies | undefined;
  readonly isEnded: () => boolean;
};

/** Rows of a series. Rows outside of `range` do not exist or are not needed. */
function* scanSeries(
  series: SeriesId,
  range: TimeRange,
  { selection, request, budget, filterOf, lastFields, first, ties, isEnded }: GroupScan,
): Generator<SeriesBatch | undefined> {
  const { counters, memory, lastRows } = budget;
  const { shards } = selection;
  counters.seriesVisited++;
  const { descending } = request;
  const { condition, fields } = filterOf(series);
  const needed = first === undefined ? range : first.within(range, ties?.areBehind(series));
  const readsBehind = first?.wantsRowBehind === true;
  const timeRange = readsBehind ? range : needed;
  let isCounted = !readsBehind;
  let names: Pick<SeriesBatch, 'seriesKey' | 'tags'> | undefined;
  const batchOf = (run: Run): SeriesBatch => {
    names ??= namesOf(selection, series, request.tags);
    ties?.add(series);
    if (!isCounted) first?.countRowBehind();
    isCounted = true;
    return toBatch(run, request, names);
  };
  const wanted = { selection, fields, presenceOnly: false, timeRange, descending };
  const read = { ...wanted, counters, memory };
  let left = request.limitPerSeries ?? Number.POSITIVE_INFINITY;
  for (const view of shards) {
    if (left <= 0) return;
    if (!view.series.has(series) || !shardOverlaps(view.shard.descriptor, needed)) continue;
    const place =
      condition === undefined && left === 1 && lastFields !== undefined
        ? placeOf(selection, view, { series, fields: lastFields, timeRange })
        : undefined;
    const known = place && lastRows.get(place);
    if (known !== undefined) {
      first?.add(known.times);
      yield batchOf(known);
      return;
    }
    for (const part of readSeries(pieceSources(view, read), series, read)) {
      if (place !== undefined) {
        const last = lastRow(part.chunk, { ...request, timeRange });
        if (last !== undefined) {
          counters.chunksAnsweredByStatistics++;
          lastRows.set(place, last);
          first?.add(last.times);
          yield batchOf(last);
          return;
        }
      }
      const rows = inOrder(keepRows(part, { condition, fields, request, left }), left, descending);
      const behind = readsBehind ? firstOutside(rows.times, needed) : -1;
      const kept = behind < 0 ? rows : sliceRun(rows, 0, behind + 1);
      left = behind < 0 ? left - kept.times.length : 0;
      if (place !== undefined && kept.times.length === 1) lastRows.set(place, kept);
      if (kept.times.length > 0) {
        first?.add(kept.times);
        for (const piece of cutByTexts(kept, BATCH_TEXT_BYTES)) {
          yield batchOf(withUsedTexts(piece));
        }
      }
      if (left <= 0 || isEnded()) return;
      yield undefined;
    }
  }
}

/**
 * The names that the reader gets for a series: one that it does not use need not be the series key.
 */
function namesOf(
  { database: { index }, measurement }: Selection,
  series: SeriesId,
  wanted: readonly string[] | undefined,
): Pick<SeriesBatch, 'seriesKey' | 'tags'> {
  if (wanted === undefined) {
    return { seriesKey: index.seriesKey(series), tags: new Map(index.tags(series)) };
  }
  const ordinal = index.ordinalOf(series);
  const tags = new Map<string, string>();
  for (const name of wanted) {
    const stored = measurement.column(name)?.values[ordinal] ?? 0;
    if (stored !== 0) tags.set(name, index.symbol(stored - 1));
  }
  return { seriesKey: String(series), tags };
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
 * The last row of a chunk from its statistics. `undefined` when these do not suffice: when a column
 * has nulls or another type than the wanted one.
 */
function lastRow(chunk: ChunkReader | undefined, request: ScanRequest): Run | undefined {
  if (chunk === undefined) return undefined;
  const { start, end } = request.timeRange;
  if (chunk.meta.maxTime < start || chunk.meta.maxTime > end) return undefined;
  const columns: (Column | undefined)[] = [];
  for (let i = 0; i < request.fields.length; i++) {
    const column = chunk.columns[i];
    const type = request.fields[i]?.type;
    const statistics = chunk.statistics(i, type);
    if (column === undefined) columns.push(undefined);
    else if (type === undefined || statistics === undefined || column.validBytes > 0)
      return undefined;
    else columns.push(columnFrom(type, [statistics.last]));
  }
  if (columns.every((column) => column === undefined)) return undefined;
  return { times: BigInt64Array.of(chunk.meta.maxTime), columns };
}

type RowChoice = {
  readonly condition: ScanRequest['where'];
  readonly fields: readonly WantedField[];
  readonly request: ScanRequest;
  /** At most this many rows are needed. */
  readonly left: number;
};

function firstOutside(times: BigInt64Array, { start, end }: TimeRange): number {
  return times.findIndex((time) => time < start || time > end);
}

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
  if (chunk !== undefined && condition === undefined && left < chunk.meta.rows) {
    if (chunk.hasFullColumn(wanted, wanted.length)) {
      chunk.narrow(left, descending ? 'last' : 'first');
    }
  }
  return withoutEmptyRows(keptRows(part, { condition, fields }, wanted));
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
  // One of each type for all fields without a value: there may be thousands of them.
  const nulls = new Map<FieldType, Column>();
  const columns = run.columns.map((column, i): Column => {
    if (column !== undefined) return column;
    const type = request.fields[i]?.type ?? 'float';
    const known = nulls.get(type) ?? nullColumn(type, times.length);
    nulls.set(type, known);
    return known;
  });
  return { ...series, times, columns };
}
