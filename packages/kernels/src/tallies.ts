// Tallies of one field over any number of series: for each group and window the number of each
// value, or the best rows. Rows are added series by series, in any order of the series. Results are
// those of functions that need all values of a window.
import { assert, Unavailable } from '@tidemark/core';
import type { Column, FieldType, Timestamp } from '@tidemark/core';

import {
  Area,
  RANKED_ROW,
  RANKED_ROW_BYTES,
  RANKS,
  TALLIED_WINDOW,
  TALLIED_WINDOW_BYTES,
  TALLY_ORDERS,
  VALUE_KINDS,
} from './abi.gen.ts';
import type { CachedColumn, CachedRows } from './column-cache.ts';
import type { Kernels } from './loader.ts';

type NumericType = Exclude<FieldType, 'string'>;

export type TallyOptions = {
  readonly type: NumericType;
  readonly groups: number;
  /** `undefined` means a single window, which begins at `start`. */
  readonly window?: { readonly everyNanos: bigint; readonly offsetNanos: bigint } | undefined;
  readonly start: Timestamp;
  /** Keeps the first and the last time of each value, for `mode` and `distinct`. */
  readonly hasTimes: boolean;
  /** The latest row is the first one of the query: of two zeros, the first is shown. */
  readonly descending: boolean;
  /** Keeps only the best rows, for `ranked`; no other result is known then. */
  readonly ranks?: { readonly order: 'top' | 'bottom'; readonly size: number } | undefined;
};

/** A window of a group; valid until the tallies are closed. */
export type TallyWindow = { readonly start: Timestamp; readonly address: number };

/** 64-bit words of values, read through an array of the type of the field; booleans are 0 or 1. */
export type ValueWords = BigUint64Array<ArrayBuffer>;

export type RankedRows = {
  readonly values: ValueWords;
  readonly times: BigInt64Array<ArrayBuffer>;
};

/** Passes over this many values are worth a pause behind each. */
const LONG_VALUES = 1 << 16;

export class Tallies {
  readonly #kernels: Kernels;
  readonly #options: TallyOptions;
  #address = 0;

  constructor(kernels: Kernels, options: TallyOptions) {
    this.#kernels = kernels;
    this.#options = options;
    this.#open();
  }

  /** Number of windows of all groups. */
  get windowCount(): number {
    return this.#kernels.exports.talliedWindows(this.#address);
  }

  get memoryBytes(): number {
    return this.#kernels.exports.talliedBytes(this.#address) >>> 0;
  }

  /** Adds rows of a group in ascending order of time; nulls are no values. */
  add(group: number, times: BigInt64Array, column: Column): void {
    const { type } = this.#options;
    assert(column.type === type, 'a column has the type of its tallies');
    assert(times.length === column.values.length, 'every row has a time');
    const { valid } = column;
    const timesAt = this.#kernels.copyIn(Area.times, times);
    const valuesAt = this.#kernels.copyIn(Area.values, column.values);
    const validAt = valid === undefined ? 0 : this.#kernels.copyIn(Area.valid, valid);
    const { exports } = this.#kernels;
    check(exports.tally(this.#address, group, timesAt, valuesAt, validAt, times.length));
  }

  /** Adds rows of cached columns of one chunk. */
  addCached(
    group: number,
    times: CachedColumn,
    values: CachedColumn,
    { from, to }: CachedRows,
  ): void {
    assert(values.type === this.#options.type, 'a column has the type of its tallies');
    const { exports } = this.#kernels;
    check(exports.tallyCached(this.#address, group, times.address, values.address, from, to));
  }

  /** The windows of a group by start. */
  windowsOf(group: number): readonly TallyWindow[] {
    const { exports } = this.#kernels;
    const count = exports.talliesOfGroup(this.#address, group, 0);
    const output = this.#kernels.scratch(Area.output, count * TALLIED_WINDOW_BYTES);
    exports.talliesOfGroup(this.#address, group, output);
    const words = new DataView(this.#kernels.buffer, output, count * TALLIED_WINDOW_BYTES);
    const windows = Array.from({ length: count }, (_, i): TallyWindow => {
      const at = i * TALLIED_WINDOW_BYTES;
      return {
        start: words.getBigInt64(at + TALLIED_WINDOW.start, true),
        address: words.getUint32(at + TALLIED_WINDOW.tally, true),
      };
    });
    return windows.sort((a, b) => (a.start < b.start ? -1 : 1));
  }

  /** Number of values of a window. */
  valueCount({ address }: TallyWindow): number {
    return this.#kernels.exports.talliedValues(address);
  }

  /** Number of distinct values of a window. Only with times: otherwise it may not be known. */
  distinctCount({ address }: TallyWindow): number {
    assert(this.#options.hasTimes, 'tallies with times know their values');
    return this.#kernels.exports.talliedDistinct(address) >>> 0;
  }

  /** The value of a rank, from 0. Pauses between passes over many values. */
  *select(window: TallyWindow, rank: number): Generator<undefined, bigint> {
    const { exports } = this.#kernels;
    const { address } = window;
    const isLong = this.valueCount(window) > LONG_VALUES;
    exports.beginSelect(this.#address, address, rank);
    if (isLong) yield undefined;
    while (exports.selectPass(this.#address, address) === 0) if (isLong) yield undefined;
    return BigInt.asUintN(64, exports.selectedValue(this.#address, address));
  }

  /** How many values that equal the value selected last rank before it. */
  get equalBefore(): number {
    return this.#kernels.exports.selectedAmongEqual(this.#address);
  }

  /** The mode of a window, as `functions/distinct.ts` of the query package. Pauses as `select`. */
  *mode(window: TallyWindow): Generator<undefined, bigint> {
    yield* this.#order(window, { onlyMost: true, by: TALLY_ORDERS.key });
    const word = this.#kernels.exports.orderedMode(this.#address);
    this.#kernels.exports.endOrder(this.#address);
    return BigInt.asUintN(64, word);
  }

  /** The distinct values by their first (or last) times, then by value. Pauses as `select`. */
  *distinct(window: TallyWindow, by: 'first' | 'last'): Generator<undefined, ValueWords> {
    const count = yield* this.#order(window, { onlyMost: false, by: TALLY_ORDERS[by] });
    const { exports } = this.#kernels;
    const words = new BigUint64Array(count);
    for (let at = 0; at < count; at += LONG_VALUES) {
      const part = Math.min(LONG_VALUES, count - at);
      const output = this.#kernels.scratch(Area.output, part * 8);
      exports.copyOrdered(this.#address, at, part, output);
      words.set(new BigUint64Array(this.#kernels.buffer, output, part), at);
      if (at + part < count) yield undefined;
    }
    exports.endOrder(this.#address);
    return words;
  }

  /** The best rows of a window in the order of time. */
  ranked({ address }: TallyWindow, { descending }: { readonly descending: boolean }): RankedRows {
    const { ranks } = this.#options;
    assert(ranks !== undefined, 'ranked rows are kept');
    const output = this.#kernels.scratch(Area.output, ranks.size * RANKED_ROW_BYTES);
    const { exports } = this.#kernels;
    const count = exports.copyRanked(this.#address, address, descending, output);
    const rows = new DataView(this.#kernels.buffer, output, count * RANKED_ROW_BYTES);
    const values = new BigUint64Array(count);
    const times = new BigInt64Array(count);
    for (let i = 0; i < count; i++) {
      values[i] = rows.getBigUint64(i * RANKED_ROW_BYTES + RANKED_ROW.value, true);
      times[i] = rows.getBigInt64(i * RANKED_ROW_BYTES + RANKED_ROW.time, true);
    }
    return { values, times };
  }

  /**
   * Whether no row whose value is at most (for `bottom`, at least) this one can be among the best
   * of a window.
   */
  isHopeless({ address }: TallyWindow, best: number | bigint | boolean): boolean {
    assert(this.#options.ranks !== undefined, 'ranked rows are kept');
    // There are two zeros, and the statistics of a column may have either.
    if (best === 0) return false;
    const word = BigInt.asIntN(64, wordOf(this.#options.type, best));
    return this.#kernels.exports.isHopeless(this.#address, address, word) !== 0;
  }

  /** Removes all windows. */
  reset(): void {
    if (this.windowCount === 0) return;
    this.close();
    this.#open();
  }

  /** Idempotent. */
  close(): void {
    if (this.#address !== 0) this.#kernels.exports.closeTallies(this.#address);
    this.#address = 0;
  }

  *#order(
    { address }: TallyWindow,
    { onlyMost, by }: { readonly onlyMost: boolean; readonly by: number },
  ): Generator<undefined, number> {
    assert(this.#options.hasTimes, 'tallies with times have an order');
    const { exports } = this.#kernels;
    const count = exports.beginOrder(this.#address, address, onlyMost) >>> 0;
    check(count);
    const isLong = count > LONG_VALUES;
    while (exports.orderPass(this.#address, by) === 0) if (isLong) yield undefined;
    return count;
  }

  #open(): void {
    const { type, groups, window, start, hasTimes, descending, ranks } = this.#options;
    this.#address = this.#kernels.exports.openTallies(
      groups,
      VALUE_KINDS[type],
      hasTimes,
      descending,
      RANKS[ranks?.order ?? 'none'],
      ranks?.size ?? 0,
      window?.everyNanos ?? 0n,
      window?.offsetNanos ?? 0n,
      start,
    );
    check(this.#address);
  }
}

function wordOf(type: TallyOptions['type'], value: number | bigint | boolean): bigint {
  if (type !== 'float') return BigInt(value);
  return new BigInt64Array(Float64Array.of(Number(value)).buffer)[0]!;
}

function check(result: number): void {
  if (result === 0) throw new Unavailable('kernel memory is exhausted');
}
