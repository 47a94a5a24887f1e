// Tombstones mark rows of segments as deleted. Reads leave those rows out; compaction drops them.
import type { TimeRange } from '@tidemark/core';

import { filterRun, lowerBound } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
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
type DeletedSet = {
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
function deletedSets(
  tombstones: readonly Tombstone[],
  { measurementId, sequence }: { readonly measurementId: number; readonly sequence: number },
): readonly DeletedSet[] {
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

/**
 * Ranges in which rows of a series are deleted, in a segment with the given sequence number:
 * ascending, neither overlapping nor touching.
 */
export function deletedRanges(
  tombstones: readonly Tombstone[],
  row: { readonly measurementId: number; readonly series: SeriesId; readonly sequence: number },
): readonly TimeRange[] {
  return tombstones.length === 0 ? NO_RANGES : rangesOf(deletedSets(tombstones, row), row.series);
}

function rangesOf(sets: readonly DeletedSet[], id: SeriesId): readonly TimeRange[] {
  let ranges = NO_RANGES;
  for (const set of sets) {
    if (set.series !== undefined && !hasId(set.series, id)) continue;
    ranges = ranges.length === 0 ? set.ranges : union([...ranges, ...set.ranges]);
  }
  return ranges;
}

const NO_RANGES: readonly TimeRange[] = [];

function hasId(ids: Uint32Array, id: number): boolean {
  return ids[firstNotBelow(ids, id)] === id;
}

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

/**
 * A mask with 1 for each row that is not deleted, in a segment with the given sequence number;
 * `undefined` when none is deleted. Rows ascend by series, then by time.
 */
export function rowsLeft(
  tombstones: readonly Tombstone[],
  place: { readonly measurementId: number; readonly sequence: number },
  { series, times }: { readonly series: Uint32Array; readonly times: BigInt64Array },
): Uint8Array | undefined {
  if (tombstones.length === 0 || series.length === 0) return undefined;
  const sets = deletedSets(tombstones, place);
  if (sets.length === 0) return undefined;
  let keep: Uint8Array | undefined;
  for (const { series: deleted = series, ranges } of sets) {
    // Both lists ascend, so each is scanned once, from where the other one begins.
    let from = 0;
    for (let at = firstNotBelow(deleted, series[0]!); at < deleted.length; at++) {
      from = firstNotBelow(series, deleted[at]!, from);
      if (from === series.length) break;
      const id = series[from]!;
      if (id !== deleted[at]) {
        at = firstNotBelow(deleted, id, at) - 1;
        continue;
      }
      let to = from + 1;
      while (series[to] === id) to++;
      keep = withoutRows(keep, times, { ranges, from, to });
      from = to;
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

/** How much of [min, max] is covered by ranges as `deletedRanges` returns them. */
export function coverage(
  ranges: readonly TimeRange[],
  min: bigint,
  max: bigint,
): 'none' | 'part' | 'all' {
  const range = ranges[firstEndingAt(ranges, min)];
  if (range === undefined || range.start > max) return 'none';
  return range.start <= min && range.end >= max ? 'all' : 'part';
}

/** The rows of a run that no range covers. Ranges are as `deletedRanges` returns them. */
export function withoutRanges(run: Run, ranges: readonly TimeRange[]): Run {
  const { times } = run;
  if (times.length === 0) return run;
  const keep = withoutRows(undefined, times, { ranges, from: 0, to: times.length });
  return keep === undefined ? run : filterRun(run, keep);
}
