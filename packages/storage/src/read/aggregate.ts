// SeriesSource.aggregate over a snapshot: folds chunks and runs of series into the windows of their
// groups.
import { AssertionFailed } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { isPause } from '@tidemark/query';
import type { Scans } from '@tidemark/kernels';
import type {
  AggregateBatch,
  AggregateFunction,
  AggregateRequest,
  FieldFolds,
  FieldRef,
  MeasurementAggregates,
  MeasurementRef,
  Operator,
  SourceCounters,
  WindowSpec,
} from '@tidemark/query';

import { isDense } from '../memtable/table-rows.ts';
import { MIN_STATISTICS_ROWS } from '../segment/format.ts';
import { ALL_SERIES, isInRanges, longRanges } from '../segment/series-ranges.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import { commonResidual } from '../series/select.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ShardView, Snapshot } from '../state/snapshot.ts';
import { addShortSeries } from './aggregate-short.ts';
import { withBestColumns } from './best-columns.ts';
import { isCountOnly } from './count-windows.ts';
import { WindowsOfGroups } from './group-windows.ts';
import type { GroupWindows } from './group-windows.ts';
import { GroupOfSeries } from './group-of-series.ts';
import { policyView, selectIn } from './groups.ts';
import type { PolicyView, Selection } from './groups.ts';
import type { ReadOptions } from './damaged-data.ts';
import { keptRows } from './kept-rows.ts';
import { isWorthReader, readLeased } from './leased-read.ts';
import { rowFilters } from './row-filter.ts';
import type { RowFilter } from './row-filter.ts';
import type { RequestMemory } from './request-memory.ts';
import { SeriesGroups } from './series-groups.ts';
import type { SeriesGroup } from './series-groups.ts';
import { pieceSources } from './pieces.ts';
import type { PieceSource } from './pieces.ts';
import { readSeries } from './series-reader.ts';
import type { SeriesRequest } from './series-reader.ts';
import { settleTies } from './tied-rows.ts';
import type { GroupBatch, TiedWork } from './tied-rows.ts';
import { alignedStart, requestedFields } from './windows.ts';
import type { ReadRequest, StoredPoints, WindowsRequest } from './windows.ts';

/** Aggregates of one measurement after another. What they have in common is made once. */
export function* aggregate(
  snapshot: Snapshot,
  { sources, ...common }: AggregateRequest,
  budget: ReadOptions,
): Operator<AggregateBatch> {
  const { counters, memory, onPartial, kernels, reader } = budget;
  const { where } = common;
  const { scans } = kernels;
  const { wanted, countsOnly } = wantedOf(common);
  const unorderedFrom = countsOnly ? 0 : MANY_SERIES;
  let view: PolicyView | undefined;
  const index = (): SeriesIndex => view!.database.index;
  const windows = new WindowsOfGroups(common, { scans, index, count: 1 });
  let filterOf: GroupWork['filterOf'] | undefined;
  try {
    for (const [place, source] of sources.entries()) {
      const request = { ...common, source, unorderedFrom };
      if (!isSamePolicy(source, sources[place - 1])) {
        view = policyView(snapshot, request, onPartial);
        filterOf = view && rowFilters(where, wanted, view.database);
      }
      if (view === undefined || filterOf === undefined) continue;
      memory.startOver();
      const selection = yield* selectIn(view, request, budget);
      if (selection === undefined) continue;
      const inOrder = (batch: AggregateBatch): AggregateBatch =>
        place === 0 ? batch : { ...batch, source: place };
      if (reader !== undefined && isWorthReader(selection, request, reader.rowsMin)) {
        const isWhole = foldsBlocks(selection, request);
        const leasing = { view, selection, request, isWhole };
        for (const batch of readLeased(leasing, budget, reader)) {
          yield isPause(batch) ? batch : inOrder(batch);
        }
        continue;
      }
      const work = { selection, wanted, filterOf, request, counters, memory, countsOnly, scans };
      for (const batch of aggregateMeasurement(work, windows)) {
        yield batch && inOrder(batch);
      }
    }
  } finally {
    windows.close();
  }
}

/** As `aggregate`, of series that are selected, whose conditions on tags they satisfy. */
export function* aggregateSelected(
  selection: Selection,
  request: MeasurementAggregates,
  { counters, memory, kernels: { scans } }: ReadOptions,
): Generator<AggregateBatch | undefined> {
  const { wanted, countsOnly } = wantedOf(request);
  const { index } = selection.database;
  const filterOf = rowFilters(request.where, wanted, selection.database);
  const windows = new WindowsOfGroups(request, { scans, index: () => index, count: 1 });
  try {
    const work = { selection, wanted, filterOf, request, counters, memory, countsOnly, scans };
    yield* aggregateMeasurement(work, windows);
  } finally {
    windows.close();
  }
}

/** The fields that are read, and whether only the numbers of their values are wanted. */
function wantedOf(request: WindowsRequest): Pick<GroupWork, 'wanted' | 'countsOnly'> {
  const fields = requestedFields(request);
  const countsOnly = fields.every(
    (field) => field.kind === 'aggregates' && isCountOnly(field.functions),
  );
  return { wanted: fields.map(({ field, type }) => ({ name: field, type })), countsOnly };
}

function isSamePolicy(a: MeasurementRef, b: MeasurementRef | undefined): boolean {
  return a.database === b?.database && a.retentionPolicy === b.retentionPolicy;
}

function* aggregateMeasurement(
  work: Work,
  windows: WindowsOfGroups,
): Generator<AggregateBatch | undefined> {
  const { selection, request } = work;
  const common = foldsBlocks(selection, request) ? commonResidual(request.where) : undefined;
  if (common === undefined) yield* aggregateBySeries(work, windows);
  else yield* aggregateBlocks(work, common.condition);
}

/** From this number of series on, it pays to look for short ones. */
const MANY_SERIES = 1024;
/** At most this many fields of groups are open at once, at some 300 bytes each. */
const OPEN_GROUPS_MAX = 65_534;
const OPEN_GROUP_BYTES = 300;
/** A batch of one window. */
const BATCH_BYTES = 800;

/** Whether rows are read in blocks of many series. */
function foldsBlocks({ groups }: Selection, request: MeasurementAggregates): boolean {
  if (groups.length * requestedFields(request).length > OPEN_GROUPS_MAX) return false;
  if (request.window !== undefined && request.limitWindows !== undefined) return false;
  return groups.series.length >= MANY_SERIES;
}

/** `all` has the windows of one group, without any. */
function* aggregateBySeries(
  work: Work,
  all: WindowsOfGroups,
): Generator<AggregateBatch | undefined> {
  const { request, selection } = work;
  const windows = all.of(0);
  for (const group of selection.groups) {
    const ofGroup = { ...work, group, all, windows };
    if (request.window === undefined || request.limitWindows === undefined) {
      yield* addGroup(ofGroup, request.timeRange);
    } else yield* addUntil(ofGroup, request.window, request.limitWindows);
    yield* settled(work, [group], () => windows.batches(group.tags()));
    windows.reset();
  }
}

/**
 * Folds the blocks that short series share, for all groups at once, then the long series one by
 * one.
 */
function* aggregateBlocks(
  work: Work,
  condition: MeasurementAggregates['where'],
): Generator<AggregateBatch | undefined> {
  const { request, selection, memory } = work;
  const { length: groupCount } = selection.groups;
  memory.hold(groupCount * requestedFields(request).length * OPEN_GROUP_BYTES, 'groups');
  const { index } = selection.database;
  const ofGroups = { scans: work.scans, index: () => index, count: groupCount };
  const windows = new WindowsOfGroups(request, ofGroups);
  try {
    yield* foldBlocks(work, condition, windows);
    yield* settled(work, selection.groups, ({ number, tags }) => windows.batches(number, tags()));
  } finally {
    windows.close();
  }
}

function* foldBlocks(
  work: Work,
  condition: MeasurementAggregates['where'],
  windows: WindowsOfGroups,
): Generator<undefined> {
  const { request, selection, memory } = work;
  const groups = new GroupOfSeries(selection.groups, memory);
  work.counters.seriesVisited += selection.groups.series.length;
  const short = { ...work, condition, windows, groups, presenceOnly: work.countsOnly };
  for (const view of selection.shards) {
    const long = longSeries(view, selection.measurement.id);
    yield* addShortSeries(view, long, short);
    if (long.length === 0) continue;
    for (const group of selection.groups) {
      const ofGroup = { ...work, group, all: windows, windows: windows.of(group.number) };
      const ofLong = group.series.filter((series) => isInRanges(long, series));
      yield* addSeries(ofGroup, ofLong, view, request.timeRange);
    }
  }
}

/**
 * The batches of groups, where `first` and `last` have chosen among rows of equal time, with what
 * their points need of their rows.
 */
function* settled(
  work: Work,
  groups: Iterable<SeriesGroup>,
  batchesOf: (group: SeriesGroup) => Generator<AggregateBatch | undefined>,
): Generator<AggregateBatch | undefined> {
  const { best, folds: [fold] = [], picksTiedByKey = false } = work.request;
  const ofRow = fold?.functions.find((wanted) => wanted.kind === 'percentile' && wanted.hasTime);
  const hasRows = best !== undefined || ofRow !== undefined;
  const tied: GroupBatch[] = [];
  for (const group of groups) {
    for (const batch of batchesOf(group)) {
      if (batch === undefined) yield undefined;
      else if (hasRows) yield yield* withRows({ ...work, group }, batch);
      else if (picksTiedByKey) tied.push({ group, batch });
      else yield batch;
    }
  }
  if (tied.length === 0) return;
  work.memory.check(tied.length * BATCH_BYTES, 'groups');
  const read: TiedWork['read'] = function* (fields, selection) {
    const wanted = { aggregates: [], folds: undefined, best: undefined, tied: fields };
    for (const _ of readAgain(work, wanted, selection)) yield undefined;
  };
  yield* yield* settleTies(tied, { ...work, read });
}

/** The columns of the best rows, or the time of the row of a percentile: it stands alone. */
function* withRows(
  work: Omit<GroupWork, 'all' | 'windows'>,
  batch: AggregateBatch,
): Generator<undefined, AggregateBatch> {
  const points: StoredPoints | undefined = batch.points?.[0]?.[0];
  if (points === undefined) return batch;
  const { best, folds } = work.request;
  const ofRows =
    best === undefined
      ? yield* withNthTime(points, folds![0]!, work)
      : yield* withBestColumns(points, best, work);
  return { ...batch, points: [[ofRows]] };
}

function* withNthTime(
  { equalBefore, ...points }: StoredPoints,
  { field }: FieldFolds,
  work: Omit<GroupWork, 'all' | 'windows'>,
): Generator<undefined, StoredPoints> {
  const { values } = points;
  if (equalBefore === undefined || values.type === 'string' || values.type === 'boolean') {
    return points;
  }
  const nthTime = { field, type: values.type, value: values.values[0]!, rank: equalBefore };
  const { selection, group } = work;
  const groups = SeriesGroups.of([group]);
  const read = { aggregates: [], folds: undefined, nthTime };
  for (const batch of readAgain(work, read, { ...selection, groups })) {
    const times = batch?.points?.[0]?.[0]?.values;
    if (times?.type === 'integer') return { ...points, times: times.values };
    yield undefined;
  }
  throw new AssertionFailed('the row of a value is there a second time');
}

/** Reads something else of the same rows. Counters are those of the first pass. */
function* readAgain(
  { request, counters, memory, scans }: Work,
  read: Partial<ReadRequest>,
  selection: Selection,
): Generator<AggregateBatch | undefined> {
  const own: ReadRequest = { ...request, ...read };
  const { groups } = selection;
  const wanted = requestedFields(own).map(({ field, type }) => ({ name: field, type }));
  const work: Work = {
    request: own,
    selection,
    wanted,
    filterOf: rowFilters(request.where, wanted, selection.database),
    counters: { ...counters },
    memory,
    countsOnly: false,
    scans,
  };
  const { index } = selection.database;
  const windows = new WindowsOfGroups(own, { scans, index: () => index, count: groups.length });
  try {
    const isMany = groups.series.length >= MANY_SERIES;
    const common = isMany ? commonResidual(request.where) : undefined;
    if (common !== undefined) yield* foldBlocks(work, common.condition, windows);
    else {
      for (const group of groups) {
        const ofGroup = { ...work, group, all: windows, windows: windows.of(group.number) };
        yield* addGroup(ofGroup, own.timeRange);
      }
    }
    for (const { number, tags } of groups) yield* windows.batches(number, tags());
  } finally {
    windows.close();
  }
}

/** Ranges of series that are better read one by one, because they have many rows each. */
function longSeries(view: ShardView, measurementId: number): readonly SeriesRange[] {
  for (const table of view.tables.get(measurementId) ?? []) {
    if (isDense(table, MIN_STATISTICS_ROWS)) return [ALL_SERIES];
  }
  return longRanges(view.segments.flatMap((segment) => segment.measurement(measurementId) ?? []));
}

type Work = Omit<GroupWork, 'group' | 'windows' | 'all'>;

type GroupWork = {
  readonly selection: Selection;
  readonly group: SeriesGroup;
  /** Windows of all groups that are open. */
  readonly all: WindowsOfGroups;
  readonly windows: GroupWindows;
  readonly wanted: readonly FieldRef[];
  readonly filterOf: (series: SeriesId) => RowFilter;
  readonly request: ReadRequest;
  readonly counters: SourceCounters;
  readonly memory: RequestMemory;
  /** Only the numbers of values are wanted, so values need not be read. */
  readonly countsOnly: boolean;
  /** Scans over the cached columns. */
  readonly scans: Scans;
};

/**
 * The next part of the time range is this many times as long when the last one gave too few
 * windows.
 */
const STEP_GROWTH = 8n;

/**
 * As `addGroup`, but stops when there are as many windows as wanted. Reads parts of the time range,
 * in whole windows from its end (or its beginning), each longer than the one before.
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
    let part: TimeRange;
    if (request.descending) {
      const from = alignedStart(end - span > start ? end - span : start, window);
      part = { start: from > start ? from : start, end };
      end = part.start - 1n;
    } else {
      const to = alignedStart(start + span < end ? start + span : end, window) + window.everyNanos;
      part = { start, end: to - 1n < end ? to - 1n : end };
      start = part.end + 1n;
    }
    yield* addGroup(work, part);
    span *= STEP_GROWTH;
  }
}

/**
 * The part of a time range in which the shards can have rows of the measurement; empty when there
 * are none.
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

/** Adds the rows of a group's series in a time range. */
function* addGroup(work: GroupWork, timeRange: TimeRange): Generator<undefined> {
  const { selection, group, request, windows, counters } = work;
  const { shards } = selection;
  const { series } = group;
  counters.seriesVisited += series.length;
  if (!isInAnyOrder(request)) {
    for (const each of series) {
      for (const view of shards) yield* addSeries(work, [each], view, timeRange);
    }
    return;
  }
  // Shards do not overlap: those behind the first one with values have no value that counts.
  const end = wantedEnd(request);
  for (const view of end === undefined ? shards : fromEnd(shards, end)) {
    yield* addSeries(work, series, view, timeRange);
    if (end !== undefined && windows.fewestWindows > 0) return;
  }
}

/** Their results depend on the order in which values are added: sums of floats are rounded. */
const IN_ORDER: ReadonlySet<AggregateFunction> = new Set(['sum', 'mean']);

function isInAnyOrder({ aggregates, folds = [], best, nthTime }: ReadRequest): boolean {
  if (folds.length > 0 || best !== undefined || nthTime !== undefined) return false;
  return !aggregates.some(({ functions }) => functions.some((name) => IN_ORDER.has(name)));
}

/** `first` or `last`, when a request without windows wants nothing else. */
function wantedEnd({ window, aggregates }: ReadRequest): 'first' | 'last' | undefined {
  const [name, ...others] = new Set(aggregates.flatMap(({ functions }) => functions));
  const isEnd = name === 'first' || name === 'last';
  return isEnd && others.length === 0 && window === undefined ? name : undefined;
}

/** Shards from the first or from the last one on. */
function fromEnd(shards: readonly ShardView[], end: 'first' | 'last'): readonly ShardView[] {
  const ascending = shards.toSorted((a, b) =>
    a.shard.descriptor.start < b.shard.descriptor.start ? -1 : 1,
  );
  return end === 'first' ? ascending : ascending.reverse();
}

/** Adds the rows of some series in a shard. */
function* addSeries(
  work: GroupWork,
  series: Iterable<SeriesId>,
  view: ShardView,
  timeRange: TimeRange,
): Generator<undefined> {
  const { counters, memory, windows, selection } = work;
  let filter: RowFilter | undefined;
  let sources: readonly PieceSource[] = [];
  const readOf = ({ condition, fields }: RowFilter): SeriesRequest => {
    const columnwise = condition === undefined;
    const wanted = { fields, presenceOnly: work.countsOnly && columnwise, timeRange };
    return { ...wanted, selection, columnwise, counters, memory };
  };
  let read: SeriesRequest | undefined;
  for (const each of series) {
    if (!view.series.has(each)) continue;
    const own = work.filterOf(each);
    if (own !== filter || read === undefined) {
      filter = own;
      read = readOf(own);
      sources = pieceSources(view, read);
    }
    for (const part of readSeries(sources, each, read)) {
      if (own.condition !== undefined) windows.addRun(keptRows(part, own, work.wanted), each);
      else if (part.chunk === undefined) windows.addRun(part.load(), each);
      else if (windows.addChunk(part.chunk, each)) counters.chunksAnsweredByStatistics++;
      work.all.check(memory);
      yield undefined;
    }
  }
}
