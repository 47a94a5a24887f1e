// Folds of a field of numbers or booleans: tallies of its values in the kernel's memory, one for
// all functions of values, and one for each ranking.
import { assert } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import type { RankedRows, Scans, Tallies, TallyWindow } from '@tidemark/kernels';
import type { FieldFolds, FoldFunction, WindowPoints } from '@tidemark/query';

import { columnOfWords } from '../columns/kernel-words.ts';
import type { NumericType } from '../columns/kernel-words.ts';
import type { ColumnMeta, NumericStatistics } from '../segment/format.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { ColumnWants } from './column-plan.ts';
import { rowsByGroup } from './windows-by-group.ts';
import type {
  FieldResult,
  FieldWindows,
  GroupedWindows,
  StoredPoints,
  WindowsRequest,
} from './windows.ts';

type NumberFolds = FieldFolds & { readonly type: NumericType; readonly count: number };

/** A function, and the tallies that have its values. */
type TalliedFunction = { readonly wanted: FoldFunction; readonly tallies: Tallies };

export class GroupedTallies implements GroupedWindows {
  readonly #type: NumericType;
  readonly #hasWindows: boolean;
  readonly #functions: TalliedFunction[] = [];
  /** Every one of them once. */
  readonly #all: Tallies[] = [];

  constructor(
    scans: Scans,
    { window, timeRange: { start }, descending }: WindowsRequest,
    { type, functions, count: groups }: NumberFolds,
  ) {
    this.#type = type;
    this.#hasWindows = window !== undefined;
    const open = (
      more: Pick<Parameters<Scans['openTallies']>[0], 'hasTimes' | 'ranks'>,
    ): Tallies => {
      const tallies = scans.openTallies({ type, groups, window, start, descending, ...more });
      this.#all.push(tallies);
      return tallies;
    };
    const hasTimes = functions.some(({ kind }) => NEED_TIMES.has(kind));
    let ofValues: Tallies | undefined;
    try {
      for (const wanted of functions) {
        const tallies =
          'size' in wanted
            ? open({ hasTimes: false, ranks: { order: wanted.kind, size: wanted.size } })
            : (ofValues ??= open({ hasTimes }));
        this.#functions.push({ wanted, tallies });
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get windowCount(): number {
    let count = 0;
    for (const tallies of this.#all) count += tallies.windowCount;
    return count;
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const { memoryBytes } of this.#all) bytes += memoryBytes;
    return bytes;
  }

  add(groups: Uint32Array, times: BigInt64Array, column: Column): void {
    for (const rows of rowsByGroup(groups, times, column)) {
      for (const tallies of this.#all) tallies.add(rows.group, rows.times, rows.column);
    }
  }

  of(group: number): FieldWindows {
    return new TallyWindows(group, {
      type: this.#type,
      hasWindows: this.#hasWindows,
      functions: this.#functions,
      all: this.#all,
    });
  }

  close(): void {
    for (const tallies of this.#all) tallies.close();
  }
}

/** Functions that need the numbers of distinct values, or their times. */
const NEED_TIMES: ReadonlySet<FoldFunction['kind']> = new Set([
  'mode',
  'distinct',
  'count-distinct',
]);

type TalliesOfField = {
  readonly type: NumericType;
  readonly hasWindows: boolean;
  readonly functions: readonly TalliedFunction[];
  readonly all: readonly Tallies[];
};

class TallyWindows implements FieldWindows {
  readonly #group: number;
  readonly #field: TalliesOfField;
  /** A directory entry does not have all values, but may tell that none is among the best. */
  readonly wants: ColumnWants;

  constructor(group: number, field: TalliesOfField) {
    this.#group = group;
    this.#field = field;
    const isToldBy = ({ statistics }: ColumnMeta, stored: FieldType): boolean =>
      statistics !== undefined && stored === field.type && this.#areHopeless(statistics);
    this.wants = { type: field.type, countsOnly: false, isToldBy };
  }

  /** All tallies have the same windows. */
  get windowCount(): number {
    return this.#field.all[0]?.windowsOf(this.#group).length ?? 0;
  }

  add(times: BigInt64Array, column: Column): void {
    for (const tallies of this.#field.all) tallies.add(this.#group, times, column);
  }

  addCached(chunk: ChunkReader, index: number): void {
    const cached = chunk.cached(index);
    assert(cached !== undefined, 'a column that is planned as cached');
    for (const tallies of this.#field.all) {
      tallies.addCached(this.#group, cached.times, cached.values, cached.rows);
    }
  }

  /** The entry told that there is nothing to add. */
  addEntry(): void {
    // See `wants`.
  }

  /** Whether no value between these can be among the best of any ranking. */
  #areHopeless({ min, max }: NumericStatistics): boolean {
    const { functions, hasWindows } = this.#field;
    if (hasWindows) return false;
    return functions.every(({ wanted, tallies }) => {
      const [window] = tallies.windowsOf(this.#group);
      if (window === undefined || !('size' in wanted)) return false;
      return tallies.isHopeless(window, wanted.kind === 'top' ? max : min);
    });
  }

  *finish(descending: boolean): Generator<undefined, FieldResult> {
    const { type, functions } = this.#field;
    const points: StoredPoints[] = [];
    let starts = new BigInt64Array();
    for (const { wanted, tallies } of functions) {
      const windows = tallies.windowsOf(this.#group);
      const ordered = descending ? windows.toReversed() : windows;
      starts = BigInt64Array.from(ordered, ({ start }) => start);
      points.push(yield* new FoldResults(tallies, type, descending).of(wanted, ordered));
    }
    return { starts, columns: [], points };
  }

  reset(): void {
    for (const tallies of this.#field.all) tallies.reset();
  }
}

/** The points of functions. */
class FoldResults {
  readonly #tallies: Tallies;
  readonly #type: NumericType;
  readonly #descending: boolean;

  constructor(tallies: Tallies, type: NumericType, descending: boolean) {
    this.#tallies = tallies;
    this.#type = type;
    this.#descending = descending;
  }

  *of(wanted: FoldFunction, windows: readonly TallyWindow[]): Generator<undefined, StoredPoints> {
    switch (wanted.kind) {
      case 'median':
        return yield* this.#medians(windows);
      case 'count-distinct':
        return onePerWindow({
          type: 'integer',
          values: BigInt64Array.from(windows, (each) => BigInt(this.#tallies.distinctCount(each))),
          valid: undefined,
        });
      case 'percentile':
        return yield* this.#percentiles(windows, wanted);
      case 'mode': {
        const words = new BigUint64Array(windows.length);
        for (const [i, window] of windows.entries()) {
          words[i] = yield* this.#tallies.mode(window);
          if (isPause(i)) yield undefined;
        }
        return onePerWindow(columnOfWords(this.#type, words));
      }
      case 'distinct':
        return yield* this.#distinct(windows);
      case 'top':
      case 'bottom':
        return yield* this.#ranked(windows);
    }
  }

  /** The middle value; of an even number of values, the middle of the two in the middle. */
  *#medians(windows: readonly TallyWindow[]): Generator<undefined, WindowPoints> {
    const values = new Float64Array(windows.length);
    for (const [i, window] of windows.entries()) {
      const count = this.#tallies.valueCount(window);
      const middle = Math.floor(count / 2);
      const high = this.#valueOf(yield* this.#tallies.select(window, middle));
      const low =
        count % 2 === 1 ? high : this.#valueOf(yield* this.#tallies.select(window, middle - 1));
      const distance =
        typeof low === 'bigint' && typeof high === 'bigint'
          ? Number(high - low)
          : Number(high) - Number(low);
      values[i] = Number(low) + distance / 2;
      if (isPause(i)) yield undefined;
    }
    return onePerWindow({ type: 'float', values, valid: undefined });
  }

  /** The nearest rank; no point for ranks outside of the window's values. */
  *#percentiles(
    windows: readonly TallyWindow[],
    { percent, hasTime }: FoldFunction & { readonly kind: 'percentile' },
  ): Generator<undefined, StoredPoints> {
    const counts = new Uint32Array(windows.length);
    const words = new BigUint64Array(windows.length);
    let found = 0;
    for (const [i, window] of windows.entries()) {
      const count = this.#tallies.valueCount(window);
      const rank = Math.floor((count * percent) / 100 + 0.5) - 1;
      if (rank >= 0 && rank < count) {
        words[found++] = yield* this.#tallies.select(window, rank);
        counts[i] = 1;
      }
      if (isPause(i)) yield undefined;
    }
    const points = { counts, values: columnOfWords(this.#type, words.subarray(0, found)) };
    // Then there is one window.
    return hasTime === true && found > 0
      ? { ...points, equalBefore: this.#tallies.equalBefore }
      : points;
  }

  *#distinct(windows: readonly TallyWindow[]): Generator<undefined, WindowPoints> {
    const parts: BigUint64Array[] = [];
    for (const [i, window] of windows.entries()) {
      parts.push(yield* this.#tallies.distinct(window, this.#descending ? 'last' : 'first'));
      if (isPause(i)) yield undefined;
    }
    const counts = Uint32Array.from(parts, ({ length }) => length);
    return { counts, values: columnOfWords(this.#type, joined(parts)) };
  }

  *#ranked(windows: readonly TallyWindow[]): Generator<undefined, WindowPoints> {
    const parts: RankedRows[] = [];
    for (const [i, window] of windows.entries()) {
      parts.push(this.#tallies.ranked(window, { descending: this.#descending }));
      if (isPause(i)) yield undefined;
    }
    const counts = Uint32Array.from(parts, ({ times }) => times.length);
    const values = joined(parts.map((part) => part.values));
    const times = new BigInt64Array(values.length);
    let at = 0;
    for (const part of parts) {
      times.set(part.times, at);
      at += part.times.length;
    }
    return { counts, values: columnOfWords(this.#type, values), times };
  }

  #valueOf(word: bigint): number | bigint {
    const { values } = columnOfWords(this.#type, BigUint64Array.of(word));
    return values[0]!;
  }
}

const WINDOWS_PER_PAUSE = 256;

function isPause(window: number): boolean {
  return (window + 1) % WINDOWS_PER_PAUSE === 0;
}

function onePerWindow(values: Column & { readonly type: NumericType }): WindowPoints {
  return { counts: new Uint32Array(values.values.length).fill(1), values };
}

function joined(parts: readonly BigUint64Array[]): BigUint64Array<ArrayBuffer> {
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
