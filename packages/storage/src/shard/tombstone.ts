// Tombstones mark rows of segments as deleted. Reads leave those rows out; compaction drops them.
import type { TimeRange } from '@tidemark/core';

import type { TimeSpan } from '../columns/overlaps.ts';
import { lowerBound } from '../columns/run.ts';
import { firstBeyond, firstNotBelow } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { finish, STEP_ELEMENTS } from '../schedule/steps.ts';

export type Tombstone = {
  /** The tombstone covers rows in segments with a smaller sequence number. */
  readonly sequence: number;
  readonly measurementId: number;
  /** Ascending; `undefined` means all series of the measurement. */
  readonly series: Uint32Array | undefined;
  readonly timeRange: TimeRange;
  /** Set by DROP MEASUREMENT: types of the measurement's fields before it are forgotten. */
  readonly freesTypes: boolean;
};

/** Deleted rows of a measurement: rows of these series within these ranges. */
export type DeletedSet = {
  /** Ascending; `undefined` means all series. */
  readonly series: Uint32Array | undefined;
  /** Ascending, neither overlapping nor touching. */
  readonly ranges: readonly TimeRange[];
};

/** Tombstones by measurement. Lists are replaced, never changed, so each is grouped once. */
const groupsOf = new WeakMap<readonly Tombstone[], ReadonlyMap<number, readonly Tombstone[]>>();

/** Prepares `tombstonesOf` for a list, in steps. */
export function* groupInSteps(tombstones: readonly Tombstone[]): Generator<undefined> {
  if (groupsOf.has(tombstones)) return;
  const groups = new Map<number, Tombstone[]>();
  for (let i = 0; i < tombstones.length; i++) {
    if (i % STEP_ELEMENTS === STEP_ELEMENTS - 1) yield undefined;
    const tombstone = tombstones[i]!;
    const group = groups.get(tombstone.measurementId);
    if (group === undefined) groups.set(tombstone.measurementId, [tombstone]);
    else group.push(tombstone);
  }
  groupsOf.set(tombstones, groups);
}

/**
 * The tombstones of a measurement, in the order of the list. A delete may add one for each of very
 * many measurements.
 */
export function tombstonesOf(
  tombstones: readonly Tombstone[],
  measurementId: number,
): readonly Tombstone[] {
  if (tombstones.length === 0) return tombstones;
  finish(groupInSteps(tombstones));
  return groupsOf.get(tombstones)?.get(measurementId) ?? NO_TOMBSTONES;
}

const NO_TOMBSTONES: readonly Tombstone[] = [];

/** Sets by measurement and sequence, made once for each list. */
const setsOf = new WeakMap<readonly Tombstone[], Map<string, readonly DeletedSet[]>>();

/** The deleted rows of a measurement in a segment with the given sequence number. */
export function deletedSets(
  tombstones: readonly Tombstone[],
  { measurementId, sequence }: { readonly measurementId: number; readonly sequence: number },
): readonly DeletedSet[] {
  if (tombstones.length === 0) return NO_SETS;
  let known = setsOf.get(tombstones);
  if (known === undefined) setsOf.set(tombstones, (known = new Map()));
  const key = `${measurementId} ${sequence}`;
  let sets = known.get(key);
  if (sets === undefined) {
    const bySeries = new Map<Uint32Array | undefined, TimeRange[]>();
    for (const tombstone of tombstonesOf(tombstones, measurementId)) {
      if (tombstone.sequence <= sequence) continue;
      const ranges = bySeries.get(tombstone.series);
      if (ranges === undefined) bySeries.set(tombstone.series, [tombstone.timeRange]);
      else ranges.push(tombstone.timeRange);
    }
    sets = Array.from(bySeries, ([series, ranges]) => ({ series, ranges: union(ranges) }));
    known.set(key, sets);
  }
  return sets;
}

function union(ranges: readonly TimeRange[]): readonly TimeRange[] {
  if (ranges.length < 2) return ranges;
  const merged: TimeRange[] = [];
  for (const range of ranges.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {
    const last = merged.at(-1);
    if (last === undefined || range.start > last.end + 1n) merged.push(range);
    else if (range.end > last.end)
      merged[merged.length - 1] = { start: last.start, end: range.end };
  }
  return merged;
}

const NO_SETS: readonly DeletedSet[] = [];

/**
 * The same series as an array that a tombstone of the measurement has already: deletes with the
 * same condition share one, which saves memory and makes them one set.
 */
export function sharedSeries(
  ofMeasurement: readonly Tombstone[],
  series: Uint32Array | undefined,
): Uint32Array | undefined {
  if (series === undefined) return undefined;
  const same = ofMeasurement.findLast((tombstone) => isSame(tombstone.series, series));
  return same?.series ?? series;
}

function isSame(known: Uint32Array | undefined, series: Uint32Array): boolean {
  if (known?.length !== series.length) return false;
  for (let i = 0; i < series.length; i++) if (known[i] !== series[i]) return false;
  return true;
}

/**
 * Tombstones of a manifest that share arrays of series, as tombstones do that are added one by one.
 */
export function withSharedSeries(tombstones: readonly Tombstone[]): readonly Tombstone[] {
  const distinct = new Map<number, Tombstone[]>();
  return tombstones.map((tombstone) => {
    const { measurementId } = tombstone;
    let known = distinct.get(measurementId);
    if (known === undefined) distinct.set(measurementId, (known = []));
    const series = sharedSeries(known, tombstone.series);
    if (series === tombstone.series) known.push(tombstone);
    return { ...tombstone, series };
  });
}

/** Series, ascending, and where the rows of each end among the rows of all. */
export type RunsOfSeries = {
  readonly ids: Uint32Array | readonly SeriesId[];
  readonly ends: Uint32Array | readonly number[];
};

/**
 * How much of the rows of some series is deleted, when they lie between the two times. For several
 * series, `part` may also mean none or all.
 */
export function coverage(
  sets: readonly DeletedSet[],
  ids: RunsOfSeries['ids'],
  { minTime, maxTime }: TimeSpan,
): 'none' | 'part' | 'all' {
  const met = sets.filter(({ ranges, series }) => {
    const range = ranges[firstEndingAt(ranges, minTime)];
    return range !== undefined && range.start <= maxTime && meets(series, ids);
  });
  if (met.length === 0) return 'none';
  if (ids.length > 1 && met.some(({ series }) => series !== undefined)) return 'part';
  const [first, ...others] = met.map(({ ranges }) => ranges);
  const ranges = others.length === 0 ? first! : union(met.flatMap((set) => set.ranges));
  const range = ranges[firstEndingAt(ranges, minTime)]!;
  return range.start <= minTime && range.end >= maxTime ? 'all' : 'part';
}

/** Whether one of the series is among the deleted ones. */
function meets(deleted: Uint32Array | undefined, ids: RunsOfSeries['ids']): boolean {
  if (deleted === undefined) return true;
  for (let at = 0, to = 0; at < ids.length && to < deleted.length;) {
    if (ids[at] === deleted[to]) return true;
    if (ids[at]! < deleted[to]!) at = firstNotBelow(ids, deleted[to]!, at);
    else to = firstNotBelow(deleted, ids[at]!, to);
  }
  return false;
}

/**
 * A mask with 1 for each row that is not deleted; `undefined` when none is. The times of each
 * series ascend.
 */
export function rowsLeft(
  sets: readonly DeletedSet[],
  { ids, ends }: RunsOfSeries,
  times: BigInt64Array,
): Uint8Array | undefined {
  let keep: Uint8Array | undefined;
  for (const { series: deleted = ids, ranges } of sets) {
    // Both lists ascend, so each is scanned once.
    for (let at = 0, to = 0; at < ids.length && to < deleted.length;) {
      const id = ids[at]!;
      if (id < deleted[to]!) at = firstNotBelow(ids, deleted[to]!, at);
      else if (id > deleted[to]!) to = firstNotBelow(deleted, id, to);
      else {
        const from = at === 0 ? 0 : ends[at - 1]!;
        keep = withoutRows(keep, times, { ranges, from, to: ends[at]! });
        at++;
        to++;
      }
    }
  }
  return keep;
}

/** The mask without those of the rows [from, to) that a range covers. */
function withoutRows(
  mask: Uint8Array | undefined,
  times: BigInt64Array,
  { ranges, from, to }: { ranges: readonly TimeRange[]; from: number; to: number },
): Uint8Array | undefined {
  if (from === to) return mask;
  let keep = mask;
  const rows = times.subarray(from, to);
  for (let at = firstEndingAt(ranges, rows[0]!); at < ranges.length; at++) {
    const { start, end } = ranges[at]!;
    if (start > rows.at(-1)!) break;
    const first = lowerBound(rows, start);
    const last = lowerBound(rows, end + 1n, first);
    if (first === last) continue;
    keep ??= new Uint8Array(times.length).fill(1);
    keep.fill(0, from + first, from + last);
  }
  return keep;
}

/** The first of ascending ranges that ends at `time` or later. */
function firstEndingAt(ranges: readonly TimeRange[], time: bigint): number {
  return firstBeyond(ranges.length, (i) => ranges[i]!.end >= time);
}
