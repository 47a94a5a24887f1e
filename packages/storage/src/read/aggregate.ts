// SeriesSource.aggregate over a snapshot: windows of groups, folded from chunks and runs of their
// series.
import { floorMod } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import type { AggregateBatch, AggregateRequest, SourceCounters, WindowSpec } from '@tidemark/query';

import type { Snapshot } from '../state/snapshot.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { isCountOnly } from './count-windows.ts';
import { GroupWindows } from './group-windows.ts';
import { select } from './groups.ts';
import type { Selection, SeriesGroup } from './groups.ts';
import type { ReadOptions } from './need.ts';
import {
  conditionColumn,
  evaluate,
  residualOf,
  rowsOfRun,
  withConditionFields,
} from './row-filter.ts';
import type { RequestMemory } from './request-memory.ts';
import { readSeries } from './series-reader.ts';
import type { WantedField } from './series-reader.ts';

export function* aggregate(
  snapshot: Snapshot,
  request: AggregateRequest,
  budget: ReadOptions,
): Generator<AggregateBatch | undefined> {
  const { counters, memory } = budget;
  const countsOnly = request.aggregates.every(({ functions }) => isCountOnly(functions));
  const unordered = { ...request, isUnordered: countsOnly };
  const selection = yield* select(snapshot, unordered, budget);
  if (selection === undefined) return;
  const wanted = request.aggregates.map(({ field, type }) => ({ name: field, type }));
  const windows = new GroupWindows(request);
  try {
    for (const group of selection.groups) {
      const work = { selection, group, windows, wanted, request, counters, memory, countsOnly };
      if (request.window === undefined || request.limitWindows === undefined) {
        yield* addGroup(work, request.timeRange);
      } else yield* addUntil(work, request.window, request.limitWindows);
      yield* windows.batches(group.tags);
      windows.reset();
    }
  } finally {
    windows.close();
  }
}

type GroupWork = {
  readonly selection: Selection;
  readonly group: SeriesGroup;
  readonly windows: GroupWindows;
  readonly wanted: readonly WantedField[];
  readonly request: AggregateRequest;
  readonly counters: SourceCounters;
  readonly memory: RequestMemory;
  /** Nothing but the number of values is asked of any field. */
  readonly countsOnly: boolean;
};

/** A window of one field in the kernel, then in the columns of the answer. */
const WINDOW_BYTES = 2 * 88;

function checkMemory({ windows, memory }: GroupWork): void {
  memory.check(windows.totalWindows * WINDOW_BYTES, 'windows of an aggregation');
}

/** How much further each step looks when the one before found too few windows. */
const STEP_GROWTH = 8n;

/**
 * As `addGroup`, but stops as soon as there are as many windows as wanted: looks at stretches of
 * whole windows from the end (or the beginning) of the data, each longer than the one before.
 */
function* addUntil(
  work: GroupWork,
  window: WindowSpec,
  limitWindows: number,
): Generator<undefined> {
  const { request, selection, windows } = work;
  let { start, end } = dataBounds(selection, request.timeRange);
  let span = window.everyNanos * BigInt(Math.max(1, limitWindows));
  while (start <= end && windows.mostWindows < limitWindows) {
    let stretch: TimeRange;
    if (request.descending) {
      const from = windowStart(end - span > start ? end - span : start, window);
      stretch = { start: from > start ? from : start, end };
      end = stretch.start - 1n;
    } else {
      const to = windowStart(start + span < end ? start + span : end, window) + window.everyNanos;
      stretch = { start, end: to - 1n < end ? to - 1n : end };
      start = stretch.end + 1n;
    }
    yield* addGroup(work, stretch);
    span *= STEP_GROWTH;
  }
}

/**
 * The part of a time range in which the shards hold rows of the measurement's kind; empty when
 * there are none.
 */
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

/**
 * Adds the rows of a group's series in a range, which is that of the request or whole windows of
 * it.
 */
function* addGroup(work: GroupWork, timeRange: TimeRange): Generator<undefined> {
  const { request, counters, memory, windows, wanted, selection, group } = work;
  const { database, shards } = selection;
  for (const series of group.series) {
    counters.seriesVisited++;
    const condition = residualOf(request, database, series);
    const fields = withConditionFields(wanted, condition);
    for (const view of shards) {
      if (!view.series.has(series)) continue;
      const presenceOnly = work.countsOnly && condition === undefined;
      const source = { database, series, fields, timeRange, counters, memory, presenceOnly };
      for (const part of readSeries(view, source, { descending: false })) {
        if (condition !== undefined) {
          const run = part.load();
          windows.addRun(
            run,
            evaluate(condition, rowsOfRun(run), conditionColumn(fields, wanted.length)),
          );
        } else if (part.chunk === undefined) windows.addRun(part.load(), undefined);
        else addChunk(windows, part.chunk, work);
        if (request.window !== undefined) checkMemory(work);
        yield undefined;
      }
    }
  }
}

/** Adds a chunk by its statistics where they suffice. */
function addChunk(windows: GroupWindows, chunk: ChunkReader, work: GroupWork): void {
  const { request, counters } = work;
  const { window, timeRange } = request;
  const { minTime, maxTime } = chunk.meta;
  const start = window === undefined ? timeRange.start : windowStart(minTime, window);
  const isWithin = window === undefined || maxTime < start + window.everyNanos;
  if (isWithin && chunk.isWhole && windows.addStatistics(chunk, start)) {
    counters.chunksAnsweredByStatistics++;
    return;
  }
  windows.addChunk(chunk);
}

function windowStart(time: bigint, { everyNanos, offsetNanos }: WindowSpec): bigint {
  return time - floorMod(time - offsetNanos, everyNanos);
}
