// What schema look-ups ask of the series of a measurement that match a filter and have data in one of some shards:
// whether there are any, which they are, which tags and values they have. Pauses where it looks at much.
import { compareBytes } from '@tidemark/core';
import type { SchemaFilter } from '@tidemark/query';

import type { DatabaseView, ShardView } from '../engine/snapshot.ts';
import type { MeasurementIndex, TagColumn } from '../series/measurement-index.ts';
import { ordinalsInSteps } from '../series/select.ts';
import { isHeld } from './groups.ts';
import { sortInSteps, STEP_ELEMENTS } from './steps.ts';

export type Scope = { readonly database: DatabaseView; readonly shards: readonly ShardView[] };

export type Selected = {
  readonly scope: Scope;
  readonly measurement: MeasurementIndex;
  readonly filter: SchemaFilter;
};

/** Series that are looked at between two pauses, a few nanoseconds each. */
const STEP_SERIES = 1 << 16;

/** Ordinals of the series, ascending. */
export function* heldOrdinals(selected: Selected): Generator<undefined, Uint32Array> {
  const { scope, measurement, filter } = selected;
  const ordinals = yield* ordinalsInSteps(scope.database.index, measurement, filter.where);
  let count = 0;
  for (let i = 0; i < ordinals.length; i++) {
    if (i % STEP_SERIES === 0) yield undefined;
    if (isHeldHere(selected, ordinals[i]!)) ordinals[count++] = ordinals[i]!;
  }
  return ordinals.subarray(0, count);
}

export function* isAnyHeld(selected: Selected): Generator<undefined, boolean> {
  if (selected.filter.where !== undefined) return (yield* heldOrdinals(selected)).length > 0;
  const { seriesCount } = selected.measurement;
  for (let ordinal = 0; ordinal < seriesCount; ordinal++) {
    if (ordinal % STEP_SERIES === 0) yield undefined;
    if (isHeldHere(selected, ordinal)) return true;
  }
  return false;
}

/** Tag keys that one of the series has, sorted bytewise. */
export function* heldTagKeys(selected: Selected): Generator<undefined, string[]> {
  const { measurement, filter } = selected;
  const ordinals = filter.where === undefined ? undefined : yield* heldOrdinals(selected);
  const count = ordinals?.length ?? measurement.seriesCount;
  const keys: string[] = [];
  for (const { key, column } of measurement.sortedTagColumns()) {
    const { values } = column;
    for (let i = 0; i < count; i++) {
      if (i % STEP_SERIES === 0) yield undefined;
      const ordinal = ordinals?.[i] ?? i;
      if ((values[ordinal] ?? 0) === 0) continue;
      if (ordinals === undefined && !isHeldHere(selected, ordinal)) continue;
      keys.push(key);
      break;
    }
  }
  return keys;
}

/** Pairs of wanted tag keys and values that one of the series has, sorted bytewise. */
export function* heldTagValues(
  selected: Selected,
  isWanted: (key: string) => boolean,
): Generator<undefined, { key: string; value: string }[]> {
  const { scope, measurement, filter } = selected;
  const { index } = scope.database;
  const ordinals = filter.where === undefined ? undefined : yield* heldOrdinals(selected);
  const pairs: { key: string; value: string }[] = [];
  for (const { key, column } of measurement.sortedTagColumns()) {
    if (!isWanted(key)) continue;
    const stored =
      ordinals === undefined
        ? yield* heldValues(selected, column)
        : distinctValues(ordinals, column.values, index.textCount);
    const texts: string[] = [];
    for (const value of stored) {
      texts.push(index.text(value - 1));
      if (texts.length % STEP_ELEMENTS === 0) yield undefined;
    }
    for (const value of yield* sortInSteps(texts, compareBytes)) pairs.push({ key, value });
  }
  return pairs;
}

/** Stored values of a column that a series with data has: from postings, of which mostly the first series has data. */
function* heldValues(selected: Selected, column: TagColumn): Generator<undefined, number[]> {
  const { scope, measurement } = selected;
  const { index } = scope.database;
  const count = measurement.seriesCount;
  const { textCount } = index;
  const postings = yield* index.postings.of(column, { count, textCount });
  const { values } = column;
  const held: number[] = [];
  const isSeen = new Uint8Array(textCount + 1);
  isSeen[0] = 1;
  const isHeldOne = (ordinal: number): boolean => isHeldHere(selected, ordinal);
  let looked = 0;
  for (const value of postings?.values ?? []) {
    if (++looked % STEP_ELEMENTS === 0) yield undefined;
    if (value === 0 || postings?.some(value, isHeldOne) !== true) continue;
    isSeen[value] = 1;
    held.push(value);
  }
  for (let ordinal = postings?.end ?? 0; ordinal < count; ordinal++) {
    if (ordinal % STEP_SERIES === 0) yield undefined;
    const value = values[ordinal] ?? 0;
    if (isSeen[value] === 1 || !isHeldHere(selected, ordinal)) continue;
    isSeen[value] = 1;
    held.push(value);
  }
  return held;
}

/** Stored values of the series, each once; not those that lack the tag. */
function distinctValues(ordinals: Uint32Array, values: Uint32Array, textCount: number): number[] {
  const isSeen = new Uint8Array(textCount + 1);
  isSeen[0] = 1;
  const distinct: number[] = [];
  for (const ordinal of ordinals) {
    const stored = values[ordinal] ?? 0;
    if (isSeen[stored] === 1) continue;
    isSeen[stored] = 1;
    distinct.push(stored);
  }
  return distinct;
}

function isHeldHere({ scope, measurement }: Selected, ordinal: number): boolean {
  const id = measurement.seriesId(ordinal);
  return scope.database.index.isLive(id) && isHeld(scope.shards, id);
}
