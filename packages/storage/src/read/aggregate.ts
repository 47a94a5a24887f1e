// SeriesSource.aggregate over a snapshot: windows of groups, folded from the runs of their series.
import { floorMod, LimitExceeded } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import type { AggregateBatch, AggregateRequest, SourceCounters, WindowSpec } from '@tidemark/query';

import type { Snapshot } from '../engine/snapshot.ts';
import { LIMITS } from '../limits.ts';
import { residualCondition } from '../series/select.ts';
import { aggregateColumn, foldPartial, partialOf } from './accumulator.ts';
import type { Partial } from './accumulator.ts';
import { select } from './groups.ts';
import type { Selection, SeriesGroup } from './groups.ts';
import { evaluate } from './row-filter.ts';
import { filterRun, lowerBound } from './run.ts';
import type { Run } from './run.ts';
import { withConditionFields } from './scan.ts';
import { readSeries } from './series-reader.ts';
import type { WholeChunk } from './series-reader.ts';

const WINDOWS_PER_BATCH = 8192;

export function* aggregate(
  snapshot: Snapshot,
  request: AggregateRequest,
  budget: { readonly counters: SourceCounters; readonly memoryLimitBytes?: number | undefined },
): Generator<AggregateBatch | undefined> {
  const { counters, memoryLimitBytes = LIMITS.requestMemoryBytes.value } = budget;
  const work = { request, counters, memoryLimitBytes };
  const selection = select(snapshot, request);
  if (selection === undefined) return;
  for (const group of selection.groups) {
    const windows =
      request.window === undefined || request.limitWindows === undefined
        ? yield* aggregateGroup(selection, group, work)
        : yield* aggregateUntil(selection, group, work);
    yield* batches(windows, group, request);
  }
}

/** Partials per window start, one per requested field. */
type Windows = Map<bigint, (Partial | undefined)[]>;

type GroupWork = {
  readonly request: AggregateRequest;
  readonly counters: SourceCounters;
  readonly memoryLimitBytes: number;
};

/** A window with one field, its partial and its selected points; measured about 350 bytes. */
const WINDOW_BYTES = 64;
const PARTIAL_BYTES = 300;

function checkMemory(windows: Windows, { request, memoryLimitBytes }: GroupWork): void {
  const bytes = windows.size * (WINDOW_BYTES + PARTIAL_BYTES * request.aggregates.length);
  if (bytes <= memoryLimitBytes) return;
  const { setting } = LIMITS.requestMemoryBytes;
  throw new LimitExceeded(
    `aggregation needs more memory than allowed. windows=${windows.size} limitBytes=${memoryLimitBytes} setting=\`${setting}\``,
    setting,
  );
}

/** How much further each step looks when the one before found too few windows. */
const STEP_GROWTH = 8n;

/**
 * As `aggregateGroup`, but stops as soon as there are as many windows as wanted: looks at stretches of whole windows
 * from the end (or the beginning) of the data, each longer than the one before.
 */
function* aggregateUntil(
  selection: Selection,
  group: SeriesGroup,
  work: GroupWork,
): Generator<undefined, Windows> {
  const { request } = work;
  const { window, limitWindows = 0, descending } = request;
  const windows: Windows = new Map();
  const bounds = dataBounds(selection, request.timeRange);
  if (window === undefined) return windows;
  let { start, end } = bounds;
  let span = window.everyNanos * BigInt(Math.max(1, limitWindows));
  while (start <= end && windows.size < limitWindows) {
    let stretch: TimeRange;
    if (descending) {
      const from = windowOf(end - span > start ? end - span : start, window, bounds).start;
      stretch = { start: from > start ? from : start, end };
      end = stretch.start - 1n;
    } else {
      const to = windowOf(start + span < end ? start + span : end, window, bounds).end ?? end;
      stretch = { start, end: to - 1n < end ? to - 1n : end };
      start = stretch.end + 1n;
    }
    const part = { ...work, request: { ...request, timeRange: stretch } };
    for (const [at, partials] of yield* aggregateGroup(selection, group, part)) {
      windows.set(at, partials);
    }
    span *= STEP_GROWTH;
  }
  return windows;
}

/** The part of a time range in which the shards hold rows of the measurement's kind; empty when there are none. */
function dataBounds({ shards, measurement }: Selection, range: TimeRange): TimeRange {
  let min = range.end;
  let max = range.start - 1n;
  const include = (start: bigint, end: bigint): void => {
    if (start > end) return;
    if (start < min) min = start;
    if (end > max) max = end;
  };
  for (const view of shards) {
    for (const { footer } of view.segments) {
      if (footer.measurements.length > 0) include(footer.minTime, footer.maxTime);
    }
    for (const { table } of view.tables.get(measurement.id) ?? []) {
      include(table.timeBounds.min, table.timeBounds.max);
    }
  }
  return {
    start: min > range.start ? min : range.start,
    end: max < range.end ? max : range.end,
  };
}

function* aggregateGroup(
  selection: Selection,
  group: SeriesGroup,
  work: GroupWork,
): Generator<undefined, Windows> {
  const { request, counters } = work;
  const { database, shards } = selection;
  const windows: Windows = new Map();
  const wanted = request.aggregates.map(({ field, type }) => ({ name: field, type }));
  for (const series of group.series) {
    counters.seriesVisited++;
    const tags = new Map(database.index.tags(series));
    const condition = residualCondition(request.where, tags);
    const fields = withConditionFields(wanted, condition);
    for (const view of shards) {
      if (!view.series.has(series)) continue;
      const source = { database, series, fields, timeRange: request.timeRange, counters };
      for (const part of readSeries(view, source, { descending: false })) {
        if (condition === undefined && part.chunk !== undefined) {
          if (addChunk(windows, part.chunk, request)) {
            counters.chunksAnsweredByStatistics++;
            continue;
          }
        }
        let kept = part.load();
        if (condition !== undefined) {
          const extra = (name: string): number =>
            fields.findIndex((field, i) => i >= wanted.length && field.name === name);
          kept = filterRun(kept, evaluate(condition, kept, extra));
        }
        addRun(windows, kept, request);
        checkMemory(windows, work);
        yield undefined;
      }
    }
  }
  return windows;
}

function addRun(windows: Windows, run: Run, request: AggregateRequest): void {
  const { times } = run;
  const fieldCount = request.aggregates.length;
  for (let start = 0; start < times.length;) {
    const window = windowOf(times[start]!, request.window, request.timeRange);
    const end = window.end === undefined ? times.length : lowerBound(times, window.end, start);
    for (let i = 0; i < fieldCount; i++) {
      const column = run.columns[i];
      const partial = column && partialOf(column, times, start, end);
      if (partial !== undefined) addPartial(windows, window.start, i, fieldCount, partial);
    }
    start = end;
  }
}

function addPartial(
  windows: Windows,
  start: bigint,
  field: number,
  fieldCount: number,
  partial: Partial,
): void {
  let partials = windows.get(start);
  if (partials === undefined) {
    partials = Array.from({ length: fieldCount }, () => undefined);
    windows.set(start, partials);
  }
  const held = partials[field];
  if (held === undefined) partials[field] = partial;
  else foldPartial(held, partial);
}

/** Adds a chunk by its statistics; `false` when they do not suffice and the rows are needed. */
function addChunk(windows: Windows, chunk: WholeChunk, request: AggregateRequest): boolean {
  const { minTime, maxTime } = chunk.meta;
  const window = windowOf(minTime, request.window, request.timeRange);
  if (window.end !== undefined && maxTime >= window.end) return false;
  const isUsable = chunk.columns.every(
    (column, i) =>
      column === undefined ||
      (column.statistics !== undefined && chunk.types[i] === request.aggregates[i]?.type),
  );
  if (!isUsable) return false;
  chunk.columns.forEach((column, i) => {
    if (column?.statistics === undefined) return;
    const s = column.statistics;
    addPartial(windows, window.start, i, request.aggregates.length, {
      count: column.count,
      sum: s.sum,
      min: { value: s.min, time: s.minTime },
      max: { value: s.max, time: s.maxTime },
      first: { value: s.first, time: s.firstTime },
      last: { value: s.last, time: s.lastTime },
    });
  });
  return true;
}

/** Window of a time; `end` is exclusive, `undefined` = no end. */
function windowOf(
  time: bigint,
  window: WindowSpec | undefined,
  range: TimeRange,
): { readonly start: bigint; readonly end: bigint | undefined } {
  if (window === undefined) return { start: range.start, end: undefined };
  const start = time - floorMod(time - window.offsetNanos, window.everyNanos);
  return { start, end: start + window.everyNanos };
}

function* batches(
  windows: Windows,
  group: SeriesGroup,
  request: AggregateRequest,
): Generator<AggregateBatch> {
  let starts = [...windows.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (request.descending) starts.reverse();
  if (request.limitWindows !== undefined) starts = starts.slice(0, request.limitWindows);
  for (let at = 0; at < starts.length; at += WINDOWS_PER_BATCH) {
    const slice = starts.slice(at, at + WINDOWS_PER_BATCH);
    const fields = request.aggregates.map(({ type, functions }, i) => {
      const partials = slice.map((start) => windows.get(start)?.[i]);
      return functions.map((name) => aggregateColumn(partials, type, name));
    });
    yield { groupTags: group.tags, windowStarts: BigInt64Array.from(slice), fields };
  }
}
