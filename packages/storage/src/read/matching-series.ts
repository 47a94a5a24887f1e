// Which series of a measurement match a filter and have rows in one of some shards, and which tags
// and values those series have. Pauses during long loops.
import { sortedSymbols } from '@tidemark/kernels';
import type { SchemaFilter } from '@tidemark/query';

import type { DatabaseView, ShardView } from '../state/snapshot.ts';
import type { MeasurementIndex, TagColumn } from '../series/measurement-index.ts';
import { ordinalsInSteps } from '../series/select.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import { hasRows } from './groups.ts';
import type { RequestMemory } from './request-memory.ts';
import { STEP_ELEMENTS } from '../schedule/steps.ts';

export type Scope = { readonly database: DatabaseView; readonly shards: readonly ShardView[] };

export type Selected = {
  readonly scope: Scope;
  readonly measurement: MeasurementIndex;
  readonly filter: SchemaFilter;
  readonly memory: RequestMemory;
  /** The same for all measurements of a request. */
  readonly seen: SeenValues;
};

/** Bytes of a series in two lists: the matching ordinals, and those with rows. */
const ORDINAL_BYTES = 8;
/**
 * Bytes of a value while they are sorted: its id in a list that may be half empty, and twice in the
 * kernel's memory.
 */
const VALUE_BYTES = 16;

/** Series between two pauses, at a few nanoseconds each. */
export const STEP_SERIES = 1 << 16;

/** Ordinals of the series that match and have rows, ascending. */
export function* matchingOrdinals(selected: Selected): Generator<undefined, Uint32Array> {
  const { scope, measurement, filter, memory } = selected;
  memory.check(measurement.seriesCount * ORDINAL_BYTES, 'series of a look-up');
  const ordinals = yield* ordinalsInSteps(scope.database.index, measurement, filter.where);
  let count = 0;
  for (let i = 0; i < ordinals.length; i++) {
    if (i % STEP_SERIES === 0) yield undefined;
    if (hasRowsHere(selected, ordinals[i]!)) ordinals[count++] = ordinals[i]!;
  }
  return ordinals.subarray(0, count);
}

export function* matchesAny(selected: Selected): Generator<undefined, boolean> {
  if (selected.filter.where !== undefined) return (yield* matchingOrdinals(selected)).length > 0;
  const { seriesCount } = selected.measurement;
  for (let ordinal = 0; ordinal < seriesCount; ordinal++) {
    if (ordinal % STEP_SERIES === 0) yield undefined;
    if (hasRowsHere(selected, ordinal)) return true;
  }
  return false;
}

/** Tag keys that at least one of the series has, sorted bytewise. */
export function* matchingTagKeys(selected: Selected): Generator<undefined, string[]> {
  const { measurement, filter } = selected;
  const ordinals = filter.where === undefined ? undefined : yield* matchingOrdinals(selected);
  const count = ordinals?.length ?? measurement.seriesCount;
  const keys: string[] = [];
  for (const { key, column } of measurement.sortedTagColumns()) {
    const { values } = column;
    for (let i = 0; i < count; i++) {
      if (i % STEP_SERIES === 0) yield undefined;
      const ordinal = ordinals?.[i] ?? i;
      if ((values[ordinal] ?? 0) === 0) continue;
      if (ordinals === undefined && !hasRowsHere(selected, ordinal)) continue;
      keys.push(key);
      break;
    }
  }
  return keys;
}

/** Number of the series. Without a condition it makes no list of them. */
export function* countMatching(selected: Selected): Generator<undefined, number> {
  if (selected.filter.where !== undefined) return (yield* matchingOrdinals(selected)).length;
  const { seriesCount } = selected.measurement;
  let count = 0;
  for (let ordinal = 0; ordinal < seriesCount; ordinal++) {
    if (ordinal % STEP_SERIES === 0) yield undefined;
    if (hasRowsHere(selected, ordinal)) count++;
  }
  return count;
}

/** A tag key, and the symbols of the values that the series have for it, in no particular order. */
export type MatchingKey = { readonly key: string; readonly symbols: Uint32Array };

/**
 * The wanted tag keys that at least one of the series has, sorted bytewise, each with its values.
 */
export function* matchingSymbols(
  selected: Selected,
  isWanted: (key: string) => boolean,
): Generator<MatchingKey | undefined> {
  const { scope, measurement, filter, memory, seen } = selected;
  const ordinals = filter.where === undefined ? undefined : yield* matchingOrdinals(selected);
  for (const { key, column } of measurement.sortedTagColumns()) {
    if (!isWanted(key)) continue;
    // Read again for each key: series added during a pause may have brought new symbols.
    const { symbolCount } = scope.database.index;
    const most = Math.min(symbolCount, ordinals?.length ?? measurement.seriesCount);
    memory.check(2 * symbolCount + most * VALUE_BYTES, 'values of a tag');
    seen.startOver(symbolCount);
    if (ordinals === undefined) yield* addMatchingValues(selected, column, seen);
    else yield* addValuesOf(ordinals, column, seen);
    const symbols = seen.symbols();
    if (symbols.length > 0) yield { key, symbols };
  }
}

/** Sorts symbols by their texts, bytewise. */
export function* inOrder(
  { scope }: Selected,
  symbols: Uint32Array,
): Generator<undefined, Uint32Array> {
  return symbols.length < 2 ? symbols : yield* sortedSymbols(scope.database.index.keys, symbols);
}

/**
 * Collects the values of a column after another, each once. A stored value is the symbol plus one,
 * 0 for none.
 */
export class SeenValues {
  #isSeen = new Uint8Array(0);
  readonly #symbols = new Uint32List();

  /** Forgets all values. Only as many places are cleared as there were values. */
  startOver(symbolCount: number): void {
    if (this.#isSeen.length <= symbolCount) this.#isSeen = new Uint8Array(2 * symbolCount + 1);
    for (const symbol of this.#symbols.view()) this.#isSeen[symbol + 1] = 0;
    this.#symbols.clear();
    // Series without the tag add nothing.
    this.#isSeen[0] = 1;
  }

  add(stored: number): void {
    this.#isSeen[stored] = 1;
    this.#symbols.push(stored - 1);
  }

  /** Adds the values in `[from, to)` that are new and whose place passes the test. */
  addNew(
    values: Uint32Array,
    { from, to }: { readonly from: number; readonly to: number },
    test: (place: number) => boolean,
  ): void {
    const isSeen = this.#isSeen;
    for (let place = from; place < to; place++) {
      const stored = values[place]!;
      if (isSeen[stored] === 0 && test(place)) this.add(stored);
    }
  }

  symbols(): Uint32Array {
    return this.#symbols.toArray();
  }
}

/**
 * Adds the values of series with rows. If there are postings, they are used: usually the first
 * series of a value has rows. The rest comes from the column, because making postings takes longer
 * than reading it once.
 */
function* addMatchingValues(
  selected: Selected,
  column: TagColumn,
  seen: SeenValues,
): Generator<undefined> {
  const { scope, measurement } = selected;
  const count = measurement.seriesCount;
  const postings = scope.database.index.cache.postings.known(column);
  const matches = (ordinal: number): boolean => hasRowsHere(selected, ordinal);
  const stored = postings?.values ?? NO_VALUES;
  for (let position = 0; position < stored.length; position++) {
    if (position % STEP_ELEMENTS === 0) yield undefined;
    const value = stored[position]!;
    if (value !== 0 && postings?.someAt(position, matches) === true) seen.add(value);
  }
  const { values } = column;
  const end = Math.min(count, values.length);
  for (let from = postings?.end ?? 0; from < end; from += STEP_SERIES) {
    seen.addNew(values, { from, to: Math.min(end, from + STEP_SERIES) }, matches);
    yield undefined;
  }
}

const NO_VALUES = new Uint32Array(0);

/** Adds the values of the given series. */
function* addValuesOf(
  ordinals: Uint32Array,
  { values }: TagColumn,
  seen: SeenValues,
): Generator<undefined> {
  for (let from = 0; from < ordinals.length; from += STEP_SERIES) {
    const part = ordinals.subarray(from, from + STEP_SERIES);
    const stored = part.map((ordinal) => values[ordinal] ?? 0);
    seen.addNew(stored, { from: 0, to: stored.length }, () => true);
    yield undefined;
  }
}

function hasRowsHere({ scope, measurement }: Selected, ordinal: number): boolean {
  const id = measurement.seriesId(ordinal);
  return scope.database.index.isLive(id) && hasRows(scope.shards, id);
}
