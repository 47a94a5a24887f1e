// Aggregates over many series of few rows. Whole blocks with rows of many series are folded into
// the windows of their groups at once: going series by series costs a hundred times more than the
// rows themselves.
import type { AggregateFunction, MeasurementAggregates, SourceCounters } from '@tidemark/query';

import { mergeOverlapping } from '../columns/merge-sources.ts';
import type { SeriesBlocks } from '../columns/merge-sources.ts';
import { firstBeyond } from '../columns/search.ts';
import { orderByGroup, RowKeys, rowOrder } from '../columns/row-order.ts';
import { takeRows } from '../columns/run.ts';
import { sliceSeriesRows } from '../columns/series-rows.ts';
import type { SeriesRows } from '../columns/series-rows.ts';
import { gapsOf } from '../segment/series-ranges.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ShardView } from '../state/snapshot.ts';
import type { WindowsOfGroups } from './group-windows.ts';
import type { GroupOfSeries } from './group-of-series.ts';
import type { Selection } from './groups.ts';
import type { RequestMemory } from './request-memory.ts';
import { pieceSources } from './pieces.ts';
import type { Piece } from './pieces.ts';
import { conditionColumn, evaluate, rowsOfRun, withConditionFields } from './row-filter.ts';
import { convertRun } from './series-reader.ts';
import type { WantedField } from './convert.ts';

export type ShortWork = {
  readonly selection: Selection;
  readonly request: MeasurementAggregates;
  readonly wanted: readonly WantedField[];
  /** The part of the condition that rows must satisfy; it is the same for all series. */
  readonly condition: MeasurementAggregates['where'];
  readonly counters: SourceCounters;
  readonly memory: RequestMemory;
  /** Only the numbers of values are wanted, so values need not be read. */
  readonly presenceOnly: boolean;
  readonly groups: GroupOfSeries;
  readonly windows: WindowsOfGroups;
};

/**
 * Adds the rows of all selected series that lie in shared chunks of a shard or in its memtable,
 * except for those in the ranges of `long`.
 */
export function* addShortSeries(
  view: ShardView,
  long: readonly SeriesRange[],
  work: ShortWork,
): Generator<undefined> {
  const fields = withConditionFields(work.wanted, work.condition);
  const presenceOnly = work.presenceOnly && work.condition === undefined;
  const { start, end } = view.shard.descriptor;
  const { timeRange } = work.request;
  const isWithin = start >= timeRange.start && end - 1n <= timeRange.end;
  const { selection, counters, groups } = work;
  const sources = pieceSources(view, { selection, fields, presenceOnly, timeRange, counters });
  const isSelected = (series: SeriesId): boolean => groups.of(series) >= 0;
  for (const range of gapsOf(long)) {
    const blocks = sources.map((source) => blocksOf(source.within(range, isSelected)));
    for (const rows of mergeOverlapping(blocks)) {
      if (rows !== undefined) fold(rows, { work, fields, presenceOnly, isWithin });
      work.windows.check(work.memory);
      yield undefined;
    }
  }
}

type Read = {
  readonly work: ShortWork;
  readonly fields: readonly WantedField[];
  readonly presenceOnly: boolean;
  /** All rows of the block are within the time range. */
  readonly isWithin: boolean;
};

function* blocksOf(pieces: Iterable<Piece | undefined>): SeriesBlocks {
  for (const piece of pieces) yield piece?.loadOfSeries();
}

/** Adds the wanted rows of a block to the windows of their groups. */
function fold(rows: SeriesRows, { work, fields, presenceOnly, isWithin }: Read): void {
  const { wanted, condition, windows, counters } = work;
  const groups = groupsOfRows(rows, work, isWithin);
  if (condition !== undefined) {
    const converted = { ...rows, ...convertRun(rows, fields) };
    const keep = evaluate(condition, rowsOfRun(converted), conditionColumn(fields, wanted.length));
    for (let row = 0; row < keep.length; row++) if (keep[row] === 0) groups[row] = UNWANTED;
  }
  const ordered = byGroup(rows, groups, work);
  const { length } = ordered.groups;
  if (length === 0) return;
  counters.rowsRead += length;
  const run = presenceOnly ? ordered.rows : convertRun(ordered.rows, wanted);
  windows.addRows(ordered.groups, { ...run, series: ordered.rows.series });
}

/** The wanted rows by group and, where it matters, by time; and the group of each. */
function byGroup(
  rows: SeriesRows,
  groups: Uint32Array,
  { request, selection }: ShortWork,
): { readonly rows: SeriesRows; readonly groups: Uint32Array } {
  const times = needsOrder(request) ? rows.times : undefined;
  const groupKeys = new RowKeys(times ?? new BigInt64Array(groups.length), groups);
  // Mostly so when there is one group, or when no row of the block is wanted.
  if (groupKeys.areOrdered()) {
    const end = firstBeyond(groups.length, (row) => groups[row] === UNWANTED);
    return { rows: sliceSeriesRows(rows, 0, end), groups: groups.subarray(0, end) };
  }
  const order = orderOf(groupKeys, { times, groups, groupCount: selection.groups.length });
  const series = order.map((row) => rows.series[row]!);
  const ofRows = { ...takeRows(rows, order), series };
  return { rows: ofRows, groups: order.map((row) => groups[row]!) };
}

/** With more groups than this for each row, comparing rows is faster than counting groups. */
const GROUPS_PER_ROW = 4;

/** The numbers of the wanted rows by group, then by time if times are given. */
function orderOf(
  groupKeys: RowKeys,
  by: {
    readonly times: BigInt64Array | undefined;
    readonly groups: Uint32Array;
    readonly groupCount: number;
  },
): Uint32Array {
  const { times, groups, groupCount } = by;
  if (groupCount > groups.length * GROUPS_PER_ROW) {
    const order = rowOrder(groupKeys);
    const end = firstBeyond(order.length, (at) => groups[order[at]!] === UNWANTED);
    return order.subarray(0, end);
  }
  const keys = times && new RowKeys(times);
  const isByTime = keys === undefined || keys.areOrdered();
  return orderByGroup(groups, groupCount, isByTime ? undefined : rowOrder(keys));
}

/** The group of rows that are not wanted; it sorts behind all others. */
const UNWANTED = 0xffffffff;

/** The group of each row of a block. */
function groupsOfRows(
  { series, times }: SeriesRows,
  { groups, request }: ShortWork,
  isWithin: boolean,
): Uint32Array {
  const ofRows = new Uint32Array(series.length);
  const { start, end } = request.timeRange;
  let group = UNWANTED;
  for (let row = 0; row < ofRows.length; row++) {
    if (row === 0 || series[row] !== series[row - 1]) {
      const known = groups.of(series[row]!);
      group = known < 0 ? UNWANTED : known;
    }
    ofRows[row] = group;
    if (group === UNWANTED || isWithin) continue;
    const time = times[row]!;
    if (time < start || time > end) ofRows[row] = UNWANTED;
  }
  return ofRows;
}

/** Whether the answer depends on the order of the rows in time. */
function needsOrder({ window, aggregates }: MeasurementAggregates): boolean {
  if (window !== undefined) return true;
  return aggregates.some(({ functions }) => functions.some((name) => !ORDER_FREE.has(name)));
}

const ORDER_FREE: ReadonlySet<AggregateFunction> = new Set([
  'count',
  'sum',
  'mean',
  'spread',
  'first',
  'last',
]);
