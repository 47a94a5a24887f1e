// Tombstones mark rows of segments as deleted. Reads leave those rows out; compaction drops them.
import type { TimeRange } from '@tidemark/core';

import { firstBeyond } from '../columns/search.ts';
import { finish, STEP_ELEMENTS } from '../schedule/steps.ts';
import { DeletedRanges } from './deleted-ranges.ts';

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

/** The tombstones of a measurement, and what they delete. */
type OfMeasurement = {
  /** Ascending by sequence. */
  readonly tombstones: readonly Tombstone[];
  /** What the tombstones from a position on delete, where somebody has asked for it. */
  readonly deleted: Map<number, DeletedRanges>;
};

/** By measurement. Lists are replaced, never changed, so each is grouped once. */
const groupsOf = new WeakMap<readonly Tombstone[], ReadonlyMap<number, OfMeasurement>>();

/** Memory of a tombstone beside its series. */
const TOMBSTONE_BYTES = 160;

/** Memory of tombstones; those that share their series count them once. */
export function tombstoneBytes(tombstones: readonly Tombstone[]): number {
  const distinct = new Set(tombstones.map(({ series }) => series));
  let bytes = tombstones.length * TOMBSTONE_BYTES;
  for (const series of distinct) bytes += series?.byteLength ?? 0;
  return bytes;
}

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
  const sorted = Array.from(groups, ([measurementId, group]) => {
    group.sort((a, b) => a.sequence - b.sequence);
    return [measurementId, { tombstones: group, deleted: new Map() }] as const;
  });
  groupsOf.set(tombstones, new Map(sorted));
}

function groupOf(
  tombstones: readonly Tombstone[],
  measurementId: number,
): OfMeasurement | undefined {
  if (tombstones.length === 0) return undefined;
  finish(groupInSteps(tombstones));
  return groupsOf.get(tombstones)?.get(measurementId);
}

/** The tombstones of a measurement. A delete may add one for each of very many measurements. */
export function tombstonesOf(
  tombstones: readonly Tombstone[],
  measurementId: number,
): readonly Tombstone[] {
  return groupOf(tombstones, measurementId)?.tombstones ?? NO_TOMBSTONES;
}

const NO_TOMBSTONES: readonly Tombstone[] = [];

/**
 * The list with further tombstones, whose sequences are larger than all others. What the list
 * deletes is not made again: the further ones are added to it.
 */
export function withTombstones(
  tombstones: readonly Tombstone[],
  added: readonly Tombstone[],
): readonly Tombstone[] {
  finish(groupInSteps(tombstones));
  const groups = new Map(groupsOf.get(tombstones));
  for (const tombstone of added) {
    const { measurementId } = tombstone;
    const { tombstones: known, deleted } = groups.get(measurementId) ?? NO_GROUP;
    groups.set(measurementId, {
      tombstones: [...known, tombstone],
      deleted: new Map(Array.from(deleted, ([from, ranges]) => [from, ranges.with(tombstone)])),
    });
  }
  const list = [...tombstones, ...added];
  groupsOf.set(list, groups);
  return list;
}

const NO_GROUP: OfMeasurement = { tombstones: [], deleted: new Map() };

/**
 * What is deleted of a measurement in a segment with the given sequence number; `undefined` when
 * nothing is.
 */
export function deletedIn(
  tombstones: readonly Tombstone[],
  { measurementId, sequence }: { readonly measurementId: number; readonly sequence: number },
): DeletedRanges | undefined {
  const group = groupOf(tombstones, measurementId);
  if (group === undefined) return undefined;
  const { tombstones: own, deleted } = group;
  const from = firstBeyond(own.length, (i) => own[i]!.sequence > sequence);
  if (from === own.length) return undefined;
  let known = deleted.get(from);
  if (known === undefined) deleted.set(from, (known = DeletedRanges.of(own.slice(from))));
  return known;
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
