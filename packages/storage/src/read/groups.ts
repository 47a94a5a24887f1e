// Selects the series of a request and groups them, in the order that SeriesSource promises.
import type { TimeRange } from '@tidemark/core';
import { sortedByKey, sortedSymbols } from '@tidemark/kernels';
import type { MeasurementRef, Predicate, SeriesGrouping } from '@tidemark/query';

import type { DatabaseView, ShardView, Snapshot } from '../state/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { ordinalsInSteps } from '../series/select.ts';
import { isEmptyRange, shardOverlaps } from '../columns/overlaps.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { requireDatabase, requireShards } from './damaged-data.ts';
import type { OnPartial } from './damaged-data.ts';
import type { RequestMemory } from './request-memory.ts';
import { sortInSteps, STEP_ELEMENTS } from '../schedule/steps.ts';

export type SeriesGroup = {
  /**
   * Values of the grouping tags; empty where a series lacks the tag. Read from the index each time,
   * because the texts of all groups together may be large.
   */
  readonly tags: () => ReadonlyMap<string, string>;
  /**
   * In the order of their keys, unless `unorderedFrom` of the request allows any order, or
   * `isByTies`.
   */
  readonly series: SeriesIds;
  /** In the order of the tags in `tieTags` of the request, which all of them have. */
  readonly isByTies?: boolean;
};

/** A typed array where groups are many and small. */
export type SeriesIds = readonly SeriesId[] | Uint32Array;

export type Selection = {
  readonly database: DatabaseView;
  readonly measurement: MeasurementIndex;
  /** Shards that overlap the time range, in time order. */
  readonly shards: readonly ShardView[];
  readonly groups: readonly SeriesGroup[];
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

/**
 * The selected series in groups; `undefined` when the database or the measurement does not exist.
 * Memory of the groups is counted for the request.
 */
export function* select(
  snapshot: Snapshot,
  request: SelectionRequest,
  { memory, onPartial }: { readonly memory: RequestMemory; readonly onPartial?: OnPartial },
): Generator<undefined, Selection | undefined> {
  const { source, timeRange } = request;
  requireDatabase(snapshot, source.database, onPartial);
  const database = snapshot.databases.get(source.database);
  const measurement = database?.index.measurement(source.measurement);
  if (database === undefined || measurement === undefined) return undefined;
  const shards = snapshot.shards
    .filter(({ shard: { descriptor: d } }) => {
      const isSource =
        d.database === source.database && d.retentionPolicy === source.retentionPolicy;
      return isSource && !isEmptyRange(timeRange) && shardOverlaps(d, timeRange);
    })
    .sort((a, b) => (a.shard.descriptor.start < b.shard.descriptor.start ? -1 : 1));
  requireShards(snapshot, shards, onPartial);
  const selected = yield* ordinalsInSteps(database.index, measurement, request.where);
  const ids = yield* heldIds(selected, measurement, shards);
  const { groupBy, tieTags, unorderedFrom = Number.POSITIVE_INFINITY } = request;
  const isUnordered = ids.length >= unorderedFrom;
  const seriesBytes = groupBy.length === 0 ? ids.BYTES_PER_ELEMENT : SERIES_BYTES;
  memory.hold(ids.length * seriesBytes, 'series of a request');
  const grouping = { ids, groupBy, memory, isUnordered, tieTags };
  const groups = yield* groupSeries(database, measurement, grouping);
  if (request.descending) {
    shards.reverse();
    groups.reverse();
    for (const group of groups) group.series.reverse();
  }
  return { database, measurement, shards, groups };
}

/** Series between two pauses: looking up so many takes some milliseconds. */
const STEP_SERIES = 1 << 15;

/** Ids of the series that have rows in one of the shards. Overwrites `ordinals` with them. */
function* heldIds(
  ordinals: Uint32Array,
  measurement: MeasurementIndex,
  shards: readonly ShardView[],
): Generator<undefined, Uint32Array> {
  let count = 0;
  for (let i = 0; i < ordinals.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    const id = measurement.seriesId(ordinals[i]!);
    if (isHeld(shards, id)) ordinals[count++] = id;
  }
  return ordinals.subarray(0, count);
}

/** Whether one of the shards has rows of the series. */
export function isHeld(shards: readonly ShardView[], id: SeriesId): boolean {
  for (const { series } of shards) if (series.has(id)) return true;
  return false;
}

/**
 * Bytes of a series with the number of its group and its place in the group; bytes of a group with
 * its tags, roughly.
 */
const SERIES_BYTES = 12;
const GROUP_BYTES = 320;
/**
 * Bytes of a series while they are sorted: two numbers in the kernel's memory, and one in the
 * sorted list.
 */
const SORTED_BYTES = 16;
/** Bytes of a value of a tag while groups are sorted. */
const RANK_BYTES = 80;

type MutableGroup = {
  tags: SeriesGroup['tags'];
  series: SeriesId[] | Uint32Array;
  isByTies?: boolean;
};

type Grouping = {
  readonly ids: Uint32Array;
  readonly groupBy: SeriesGrouping;
  readonly memory: RequestMemory;
  readonly isUnordered: boolean;
  readonly tieTags: readonly string[] | undefined;
};

function* groupSeries(
  database: DatabaseView,
  measurement: MeasurementIndex,
  { ids, groupBy, memory, isUnordered, tieTags }: Grouping,
): Generator<undefined, MutableGroup[]> {
  const { index } = database;
  const inOrder = function* (series: Uint32Array): Generator<undefined, OrderedSeries> {
    if (isUnordered) return { series };
    const ties =
      tieTags !== undefined && series.length >= TIES_FROM
        ? yield* byTies(database, measurement, { ids: series, memory, tieTags })
        : undefined;
    if (ties !== undefined) return { series: ties, isByTies: true };
    return { series: yield* byKey(database, series, memory) };
  };
  if (groupBy.length === 0) {
    if (ids.length === 0) return [];
    return [{ tags: () => new Map(), ...(yield* inOrder(ids)) }];
  }
  if (groupBy === 'all') {
    const groups: MutableGroup[] = [];
    memory.hold(ids.length * GROUP_BYTES, 'groups of a request');
    for (const id of yield* byKey(database, ids, memory)) {
      groups.push({ tags: () => new Map(index.tags(id)), series: [id] });
      if (groups.length % STEP_ELEMENTS === 0) yield undefined;
    }
    return groups;
  }
  const groups = yield* groupsByTags(database, measurement, { ids, groupBy, memory });
  const ranks: ReadonlyMap<number, number>[] = [];
  for (let i = 0; i < groupBy.length; i++) {
    const values = groups.map(({ stored }) => stored[i]!);
    ranks.push(yield* ranksOfValues(database, values, memory));
  }
  const result = yield* sortInSteps(groups, (a, b) => {
    for (let i = 0; i < ranks.length; i++) {
      const order = ranks[i]!.get(a.stored[i]!)! - ranks[i]!.get(b.stored[i]!)!;
      if (order !== 0) return order;
    }
    return 0;
  });
  for (const group of result) {
    if (group.series.length > 1) Object.assign(group, yield* inOrder(group.series));
  }
  return result;
}

/** Groups the series by tag values. Groups are in the order of their first series. */
function* groupsByTags(
  { index }: DatabaseView,
  measurement: MeasurementIndex,
  {
    ids,
    groupBy,
    memory,
  }: Pick<Grouping, 'ids' | 'memory'> & { readonly groupBy: readonly string[] },
): Generator<undefined, GroupOfValues[]> {
  const columns = groupBy.map((name) => measurement.column(name)?.values);
  const places = new Map<string | number, number>();
  const found: { readonly stored: readonly number[]; count: number }[] = [];
  const groupOf = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    if ((i + 1) % STEP_ELEMENTS === 0) yield undefined;
    const ordinal = index.ordinalOf(ids[i]!);
    const stored = columns.map((column) => column?.[ordinal] ?? 0);
    const key = stored.length === 1 ? stored[0]! : stored.join(' ');
    let place = places.get(key);
    if (place === undefined) {
      memory.hold(GROUP_BYTES, 'groups of a request');
      place = found.push({ stored, count: 0 }) - 1;
      places.set(key, place);
    }
    groupOf[i] = place;
    found[place]!.count++;
  }
  // One array holds the series of all groups. `next` has the position of the next series of each
  // group, and in the end that after its last one.
  const all = new Uint32Array(ids.length);
  const next = new Uint32Array(found.length);
  for (let group = 1; group < found.length; group++) {
    next[group] = next[group - 1]! + found[group - 1]!.count;
  }
  for (let i = 0; i < ids.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    all[next[groupOf[i]!]!++] = ids[i]!;
  }
  return found.map(({ stored, count }, group) => {
    const text = (value: number | undefined): string =>
      value === undefined || value === 0 ? '' : index.symbol(value - 1);
    const tags = (): ReadonlyMap<string, string> =>
      new Map(groupBy.map((name, i) => [name, text(stored[i])]));
    return { tags, stored, series: all.subarray(next[group]! - count, next[group]!) };
  });
}

/**
 * `stored` are the values of the grouping tags as the index has them: symbols plus one, 0 for none.
 */
type GroupOfValues = MutableGroup & {
  readonly stored: readonly number[];
  readonly series: Uint32Array;
};

/** The ranks of some values of a tag, as the index has them. */
function* ranksOfValues(
  { index }: DatabaseView,
  stored: ArrayLike<number>,
  memory: RequestMemory,
): Generator<undefined, ReadonlyMap<number, number>> {
  const values = new Set<number>();
  for (let i = 0; i < stored.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    values.add(stored[i]!);
  }
  values.delete(0);
  memory.check(values.size * RANK_BYTES, 'order of groups');
  const symbols = Uint32Array.from(values, (value) => value - 1);
  const sorted = symbols.length < 2 ? symbols : yield* sortedSymbols(index.keys, symbols);
  const ranked = new Map<number, number>([[0, -1]]);
  for (let rank = 0; rank < sorted.length; rank++) {
    if ((rank + 1) % STEP_SERIES === 0) yield undefined;
    ranked.set(sorted[rank]! + 1, rank);
  }
  return ranked;
}

/** Of fewer series all rows of one time are sent. */
const TIES_FROM = 200;

type OrderedSeries = Pick<MutableGroup, 'series' | 'isByTies'>;

type Ties = Pick<Grouping, 'ids' | 'memory'> & { readonly tieTags: readonly string[] };

/** Sorts series by tags; `undefined` if one of them lacks one of these. */
function* byTies(
  database: DatabaseView,
  measurement: MeasurementIndex,
  { ids, memory, tieTags }: Ties,
): Generator<undefined, Uint32Array | undefined> {
  const { index } = database;
  memory.check(ids.length * SORTED_BYTES, 'order of series');
  const columns: Uint32Array[] = [];
  for (const name of tieTags) {
    const values = measurement.column(name)?.values;
    const column = new Uint32Array(ids.length);
    for (let i = 0; i < ids.length; i++) {
      if ((i + 1) % STEP_SERIES === 0) yield undefined;
      column[i] = values?.[index.ordinalOf(ids[i]!)] ?? 0;
      if (column[i] === 0) return undefined;
    }
    const ranks = yield* ranksOfValues(database, column, memory);
    for (let i = 0; i < ids.length; i++) {
      if ((i + 1) % STEP_SERIES === 0) yield undefined;
      column[i] = ranks.get(column[i]!)!;
    }
    columns.push(column);
  }
  const compare = (a: number, b: number): number => {
    for (const ranks of columns) if (ranks[a] !== ranks[b]) return ranks[a]! - ranks[b]!;
    return 0;
  };
  const order = yield* sortInSteps(Array.from(ids.keys()), compare);
  return Uint32Array.from(order, (at) => ids[at]!);
}

/** Sorts series by their keys. */
function* byKey(
  { index }: DatabaseView,
  ids: SeriesIds,
  memory: RequestMemory,
): Generator<undefined, Uint32Array> {
  memory.check(ids.length * SORTED_BYTES, 'order of series');
  return yield* sortedByKey(index.keys, ids instanceof Uint32Array ? ids : Uint32Array.from(ids));
}
