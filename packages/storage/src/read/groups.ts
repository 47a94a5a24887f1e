// Selects the series of a request and groups them, in the order that SeriesSource promises.
import type { TimeRange } from '@tidemark/core';
import type { MeasurementRef, Predicate, SeriesGrouping } from '@tidemark/query';

import type { DatabaseView, ShardView, Snapshot } from '../state/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { partOf } from '../series/ordinal-set.ts';
import { ordinalsInSteps } from '../series/select.ts';
import { isEmptyRange, shardOverlaps } from '../columns/overlaps.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { requireDatabase, requireShards } from './damaged-data.ts';
import type { OnPartial } from './damaged-data.ts';
import type { RequestMemory } from './request-memory.ts';
import { SeriesGroups } from './series-groups.ts';
import { byKey, byTags, haveTags, STEP_SERIES } from './series-order.ts';
import type { Unordered } from './series-order.ts';

export type Selection = {
  readonly database: DatabaseView;
  readonly measurement: MeasurementIndex;
  /**
   * Shards with rows of the measurement that overlap the time range, in the order of the request.
   */
  readonly shards: readonly ShardView[];
  readonly groups: SeriesGroups;
};

export type SelectionRequest = {
  readonly source: MeasurementRef;
  readonly timeRange: TimeRange;
  readonly where?: Predicate | undefined;
  readonly groupBy: SeriesGrouping;
  readonly descending: boolean;
  /**
   * With this number of series or more, the answer does not depend on their order within a group,
   * so they are not sorted.
   */
  readonly unorderedFrom?: number | undefined;
  /** See `ScanRequest`. */
  readonly tieTags?: readonly string[] | undefined;
};

/** The part of a snapshot that requests for measurements of one retention policy read. */
export type PolicyView = {
  readonly snapshot: Snapshot;
  readonly database: DatabaseView;
  /** Those that overlap the time range, in the order of the request. */
  readonly shards: readonly ShardView[];
};

type SelectionOptions = { readonly memory: RequestMemory; readonly onPartial?: OnPartial };

/** `undefined` when the database does not exist. */
export function policyView(
  snapshot: Snapshot,
  { source, timeRange, descending }: Omit<SelectionRequest, 'groupBy'>,
  onPartial: OnPartial,
): PolicyView | undefined {
  requireDatabase(snapshot, source.database, onPartial);
  const database = snapshot.databases.get(source.database);
  if (database === undefined) return undefined;
  const shards = snapshot.shards
    .filter(({ shard: { descriptor: d } }) => {
      const isSource =
        d.database === source.database && d.retentionPolicy === source.retentionPolicy;
      return isSource && !isEmptyRange(timeRange) && shardOverlaps(d, timeRange);
    })
    .sort((a, b) => (a.shard.descriptor.start < b.shard.descriptor.start ? -1 : 1));
  if (descending) shards.reverse();
  return { snapshot, database, shards };
}

/** As `selectIn`; `undefined` also when the database does not exist. */
export function* select(
  snapshot: Snapshot,
  request: SelectionRequest,
  options: SelectionOptions,
): Generator<undefined, Selection | undefined> {
  const view = policyView(snapshot, request, options.onPartial);
  return view && (yield* selectIn(view, request, options));
}

/**
 * The selected series in groups; `undefined` when the measurement does not exist. Memory of the
 * groups is counted for the request.
 */
export function* selectIn(
  { snapshot, database, shards: ofPolicy }: PolicyView,
  request: SelectionRequest,
  { memory, onPartial }: SelectionOptions,
): Generator<undefined, Selection | undefined> {
  const measurement = database.index.measurement(request.source.measurement);
  if (measurement === undefined) return undefined;
  requireShards(snapshot, ofPolicy, onPartial);
  const shards = ofPolicy.filter((view) => hasMeasurement(view, measurement.id));
  const selected = yield* ordinalsInSteps(database.index, measurement, request.where);
  const ids = yield* idsWithRows(selected, measurement, shards);
  const { groupBy, tieTags, unorderedFrom = Number.POSITIVE_INFINITY } = request;
  const isUnordered = ids.length >= unorderedFrom;
  const seriesBytes = groupBy.length === 0 ? ids.BYTES_PER_ELEMENT : SERIES_BYTES;
  memory.hold(ids.length * seriesBytes, 'series of a request');
  const grouping = { database, measurement, ids, memory, groupBy, isUnordered, tieTags };
  const groups = yield* groupSeries(grouping);
  const ordered = request.descending ? groups.reversed() : groups;
  return { database, measurement, shards, groups: ordered };
}

function hasMeasurement({ segments, tables }: ShardView, measurementId: number): boolean {
  if (tables.has(measurementId)) return true;
  for (const segment of segments) if (segment.measurement(measurementId) !== undefined) return true;
  return false;
}

/** Ids of the series that have rows in one of the shards. Overwrites `ordinals` with them. */
function* idsWithRows(
  ordinals: Uint32Array,
  measurement: MeasurementIndex,
  shards: readonly ShardView[],
): Generator<undefined, Uint32Array> {
  let count = 0;
  for (let i = 0; i < ordinals.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    const id = measurement.seriesId(ordinals[i]!);
    if (hasRows(shards, id)) ordinals[count++] = id;
  }
  return partOf(ordinals, 0, count);
}

/** Whether one of the shards has rows of the series. */
export function hasRows(shards: readonly ShardView[], id: SeriesId): boolean {
  for (const { series } of shards) if (series.has(id)) return true;
  return false;
}

/** Bytes of a series in a group, and of the end of the group. */
const SERIES_BYTES = 12;
/** Groups of fewer series are not ordered by ties: all their rows of one time are sent. */
const TIES_FROM = 200;

const NO_TAGS: ReadonlyMap<string, string> = new Map();

type Grouping = Unordered & {
  readonly groupBy: SeriesGrouping;
  readonly isUnordered: boolean;
  readonly tieTags: readonly string[] | undefined;
};

function* groupSeries(grouping: Grouping): Generator<undefined, SeriesGroups> {
  const { groupBy, isUnordered, measurement } = grouping;
  const { index } = grouping.database;
  if (groupBy === 'all') {
    return SeriesGroups.ofEach(yield* byKey(grouping), (id) => new Map(index.tags(id)));
  }
  const columns = groupBy.map((name) => measurement.column(name)?.values);
  const tagsOf = (id: SeriesId): ReadonlyMap<string, string> => {
    if (groupBy.length === 0) return NO_TAGS;
    const ordinal = index.ordinalOf(id);
    const text = (value = 0): string => (value === 0 ? '' : index.symbol(value - 1));
    return new Map(groupBy.map((name, i) => [name, text(columns[i]?.[ordinal])]));
  };
  if (grouping.ids.length === 1) return SeriesGroups.ofEach(grouping.ids, tagsOf);
  const series = yield* byTags(grouping, groupBy);
  const ends: number[] = [];
  for (let i = 0; i < series.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    const ordinal = index.ordinalOf(series[i]!);
    const next = i + 1 < series.length ? index.ordinalOf(series[i + 1]!) : undefined;
    if (
      next === undefined ||
      columns.some((values) => (values?.[ordinal] ?? 0) !== (values?.[next] ?? 0))
    ) {
      ends.push(i + 1);
    }
  }
  const byTies = new Set<number>();
  const groups = new SeriesGroups({ series, ends: Uint32Array.from(ends), tagsOf, byTies });
  if (isUnordered) return groups;
  for (let group = 0; group < groups.length; group++) {
    const ids = groups.seriesOf(group);
    if (ids.length === 1) continue;
    const ties = yield* byTiesOf({ ...grouping, ids });
    if (ties !== undefined) byTies.add(group);
    ids.set(ties ?? (yield* byKey({ ...grouping, ids })));
  }
  return groups;
}

/** Sorts series by their ties; `undefined` if one of them lacks a tag of these. */
function* byTiesOf(group: Grouping): Generator<undefined, Uint32Array | undefined> {
  const { ids, tieTags } = group;
  if (tieTags === undefined || ids.length < TIES_FROM) return undefined;
  return (yield* haveTags(group, tieTags)) ? yield* byTags(group, tieTags) : undefined;
}
