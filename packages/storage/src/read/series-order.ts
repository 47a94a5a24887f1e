// Sorts series by their tags or by their keys, in steps.
import { sortedByKey, sortedSymbols } from '@tidemark/kernels';
import type { SeriesKeys } from '@tidemark/kernels';

import type { DatabaseView } from '../state/snapshot.ts';
import type { MeasurementIndex, TagColumn } from '../series/measurement-index.ts';
import type { RankedBy, Ranks } from '../series/rank-cache.ts';
import type { RequestMemory } from './request-memory.ts';

/** Series between two pauses: looking up so many takes some milliseconds. */
export const STEP_SERIES = 1 << 15;

/**
 * Bytes of a series while they are sorted: two numbers in the kernel's memory, and one in the
 * sorted list.
 */
const SORTED_BYTES = 16;
/** Bytes of a value of a tag while series are sorted by it. */
const RANK_BYTES = 80;

export type Unordered = {
  readonly database: DatabaseView;
  readonly measurement: MeasurementIndex;
  readonly ids: Uint32Array;
  readonly memory: RequestMemory;
};

/** Sorts series by their keys. */
export function* byKey(unordered: Unordered): Generator<undefined, Uint32Array> {
  const { database, measurement, ids, memory } = unordered;
  const { index } = database;
  memory.check(ids.length * SORTED_BYTES, 'order of series');
  const known = yield* knownRanks(unordered, measurement, (count) =>
    ranksByKey(index, measurement.seriesIds().slice(0, count)),
  );
  return yield* known === undefined ? sortedByKey(index.keys, ids) : byRank(ids, known);
}

/**
 * Sorts series by the values of tags, the first tag first; those that lack a tag come before.
 * Series with the same values stay in their order.
 */
export function* byTags(
  unordered: Unordered,
  tags: readonly string[],
): Generator<undefined, Uint32Array> {
  const { database, measurement, memory } = unordered;
  const { index } = database;
  let { ids } = unordered;
  for (const name of tags.toReversed()) {
    const column = measurement.column(name);
    if (column === undefined) continue;
    memory.check(ids.length * SORTED_BYTES, 'order of series');
    const known = yield* knownRanks({ ...unordered, ids }, column, (count) => {
      const stored = new Uint32Array(count);
      stored.set(column.values.subarray(0, count));
      return ranksOfValues(index.keys, stored, memory);
    });
    ids = yield* byRank(ids, known ?? (yield* ranksOfIds({ ...unordered, ids }, column)));
  }
  return ids;
}

/** Whether all series have all of these tags. */
export function* haveTags(
  { database: { index }, measurement, ids }: Unordered,
  tags: readonly string[],
): Generator<undefined, boolean> {
  for (const name of tags) {
    const values = measurement.column(name)?.values;
    for (let i = 0; i < ids.length; i++) {
      if ((i + 1) % STEP_SERIES === 0) yield undefined;
      if ((values?.[index.ordinalOf(ids[i]!)] ?? 0) === 0) return false;
    }
  }
  return true;
}

/** Sorting fewer series takes microseconds. */
const KNOWN_MIN = 64;
/** From this share of a measurement's series on, the ranks of all of them are made. */
const ALL_SHARE = 1 / 2;
/** With fewer series than this share of a measurement's, sorting only them is faster. */
const KNOWN_SHARE = 1 / 8;

/** Ranks of series by position, from those of all series of their measurement. */
function* knownRanks(
  { database: { index }, measurement, ids }: Unordered,
  by: RankedBy,
  make: (seriesCount: number) => Generator<undefined, Ranks>,
): Generator<undefined, Ranks | undefined> {
  const { seriesCount } = measurement;
  if (ids.length < Math.max(KNOWN_MIN, seriesCount * KNOWN_SHARE)) return undefined;
  const { ranks: cache } = index.cache;
  let all = cache.of(by, seriesCount);
  if (all === undefined) {
    if (ids.length < seriesCount * ALL_SHARE || !cache.holds(seriesCount)) return undefined;
    all = yield* make(seriesCount);
    cache.set(by, all);
  }
  const ranks = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    ranks[i] = all.ranks[index.ordinalOf(ids[i]!)]!;
  }
  return { ranks, count: all.count };
}

/** Ranks of series by position, from their keys. */
function* ranksByKey(index: DatabaseView['index'], ids: Uint32Array): Generator<undefined, Ranks> {
  const sorted = yield* sortedByKey(index.keys, ids);
  const ranks = new Uint32Array(ids.length);
  for (let rank = 0; rank < ids.length; rank++) {
    if ((rank + 1) % STEP_SERIES === 0) yield undefined;
    ranks[index.ordinalOf(sorted[rank]!)] = rank;
  }
  return { ranks, count: ids.length };
}

/** Ranks of series by position, made from their values only. */
function* ranksOfIds(
  { database: { index }, ids, memory }: Unordered,
  { values }: TagColumn,
): Generator<undefined, Ranks> {
  const stored = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    stored[i] = values[index.ordinalOf(ids[i]!)] ?? 0;
  }
  return yield* ranksOfValues(index.keys, stored, memory);
}

/**
 * Ranks of values of a tag as columns have them, by position: 0 for no value, then by the bytes of
 * the value.
 */
function* ranksOfValues(
  keys: SeriesKeys,
  stored: Uint32Array,
  memory: RequestMemory,
): Generator<undefined, Ranks> {
  // Values get numbers in the order in which they are found, from 1 on.
  const numbers = new Map<number, number>([[0, 0]]);
  const numbered = new Uint32Array(stored.length);
  for (let i = 0; i < stored.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    const value = stored[i]!;
    let number = numbers.get(value);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(value, number);
    }
    numbered[i] = number;
  }
  const count = numbers.size;
  memory.check(count * RANK_BYTES, 'order of groups');
  const symbols = Uint32Array.from(numbers.keys(), (value) => value - 1).subarray(1);
  const sorted = symbols.length < 2 ? symbols : yield* sortedSymbols(keys, symbols);
  const rankOf = new Uint32Array(count);
  for (let i = 0; i < sorted.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    rankOf[numbers.get(sorted[i]! + 1)!] = i + 1;
  }
  return { ranks: numbered.map((number) => rankOf[number]!), count };
}

/** Sorts series by their ranks; those of one rank stay in their order. */
function* byRank(ids: Uint32Array, { ranks, count }: Ranks): Generator<undefined, Uint32Array> {
  // Position of the next series of each rank.
  const next = new Uint32Array(count + 1);
  for (const rank of ranks) next[rank + 1]!++;
  for (let rank = 1; rank < count; rank++) next[rank]! += next[rank - 1]!;
  yield undefined;
  const sorted = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    if ((i + 1) % STEP_SERIES === 0) yield undefined;
    sorted[next[ranks[i]!]!++] = ids[i]!;
  }
  return sorted;
}
