// Windowed aggregates of one field over any number of series. Rows are added series by series; the
// windows are returned in order.
import { assert, floatBits, floatOfBits, Unavailable } from '@tidemark/core';
import type { Column, FieldType, Timestamp } from '@tidemark/core';
import {
  Area,
  VALUE_KINDS,
  WINDOW,
  WINDOW_BYTES,
  WINDOW_RESULTS,
  WINDOW_WANTS,
} from './abi.gen.ts';
import type { CachedColumn } from './column-cache.ts';
import type { Kernels } from './loader.ts';

type NumericType = Exclude<FieldType, 'string'>;

export type AccumulatorOptions = {
  /** `undefined` means a single window, which begins at `start`. */
  readonly window?: { readonly everyNanos: bigint; readonly offsetNanos: bigint } | undefined;
  readonly start: Timestamp;
  /**
   * Set only what the functions need: these two read every value, while counts, first and last
   * values cost nothing.
   */
  readonly wantsSum: boolean;
  readonly wantsExtremes: boolean;
  /** Keeps the upper half of the sum, so that means of integers are right even if the sum wraps. */
  readonly wantsMean?: boolean | undefined;
};

/** Size of a buffer for the results of several groups. */
const SHARED_WORDS = 1024;

/**
 * 64-bit words of unspecified type. Read them through an array of their type over the same bytes.
 */
export type Words = Float64Array<ArrayBuffer>;

/**
 * The rows of one window as scalars, from the statistics of a chunk that lies within the window.
 * Floats are numbers. When the mean of integers is wanted, the sum must not have wrapped.
 */
export type RowsPartial = {
  readonly sum: number | bigint;
  readonly min: number | bigint;
  readonly minTime: Timestamp;
  readonly max: number | bigint;
  readonly maxTime: Timestamp;
  readonly first: number | bigint;
  readonly firstTime: Timestamp;
  readonly last: number | bigint;
  readonly lastTime: Timestamp;
};

/**
 * Results of windows. Counts and times are int64, `mean` is a float, the others have the type of
 * the field; booleans are 0 and 1 as uint64. Results that were not requested are unspecified: the
 * sum, or minimum and maximum with their times.
 */
export type WindowResult = keyof typeof WINDOW_RESULTS;

/**
 * Accumulators of one field, one for each group of series. Sums of integers wrap, means do not.
 * Among equal values, min and max take the earliest point. At equal times, first and last take the
 * larger value; only first of booleans prefers false. Strings are not supported: callers accumulate
 * their codes as integers for count, first and last, and compare the texts of equal times
 * themselves.
 */
export class Accumulators {
  readonly #kernels: Kernels;
  readonly #type: NumericType;
  readonly #options: AccumulatorOptions;
  #address: number;
  /** Results of small groups; the first words are used. */
  #results = new BigInt64Array(0);
  #used = 0;

  constructor(
    kernels: Kernels,
    type: NumericType,
    options: AccumulatorOptions & { readonly count: number },
  ) {
    this.#kernels = kernels;
    this.#type = type;
    this.#options = options;
    const every = options.window?.everyNanos ?? 0n;
    assert(options.window === undefined || every > 0n, 'windows have a positive length');
    const wants =
      (options.wantsSum ? WINDOW_WANTS.sum : 0) |
      (options.wantsExtremes ? WINDOW_WANTS.extremes : 0) |
      (options.wantsMean === true ? WINDOW_WANTS.mean : 0);
    const offset = options.window?.offsetNanos ?? 0n;
    this.#address = kernels.exports.openAccumulators(
      options.count,
      VALUE_KINDS[type],
      wants,
      every,
      offset,
      options.start,
    );
    if (this.#address === 0) throw new Unavailable('kernel memory is exhausted');
  }

  /**
   * Adds rows of several groups, ordered by group, then by time. Without a window they may be in
   * any order, unless extremes are wanted: among equal ones, the first row is the earliest.
   */
  add(groups: Uint32Array, times: BigInt64Array, column: Column): void {
    assert(column.type === this.#type, 'a column has the type of its accumulators');
    assert(groups.length === times.length, 'every row has a group');
    const groupsAt = this.#kernels.copyIn(Area.groups, groups);
    const rows = copyRows(this.#kernels, times, column, column.valid);
    const { exports } = this.#kernels;
    const { timesAt, valuesAt, validAt } = rows;
    const count = groups.length;
    if (
      exports.accumulateGroups(this.#address, groupsAt, timesAt, valuesAt, validAt, count) === 0
    ) {
      throw new Unavailable('kernel memory is exhausted');
    }
  }

  /** The accumulator of one group, valid until `close`. */
  of(group: number): Accumulator {
    const address = this.#kernels.exports.accumulatorOf(this.#address, group);
    return new Accumulator(this.#kernels, this.#type, { ...this.#options, address, owner: this });
  }

  /**
   * Copies words of the kernel's memory. Small groups share a buffer: with one each, buffers would
   * take longer to make and to collect than the rest.
   */
  copyOut(address: number, wordCount: number): { buffer: ArrayBuffer; byteOffset: number } {
    const { words, buffer } = this.#kernels;
    if (wordCount > SHARED_WORDS / 16) {
      return { buffer: buffer.slice(address, address + wordCount * 8), byteOffset: 0 };
    }
    if (this.#used + wordCount > this.#results.length) {
      this.#results = new BigInt64Array(SHARED_WORDS);
      this.#used = 0;
    }
    const results = this.#results;
    const first = this.#used;
    for (let i = 0, at = address >>> 3; i < wordCount; i++) results[first + i] = words[at + i]!;
    this.#used += wordCount;
    return { buffer: results.buffer, byteOffset: first * 8 };
  }

  /** Number of windows of all groups. */
  get windowCount(): number {
    return this.#kernels.exports.accumulatedWindows(this.#address);
  }

  /** Frees the memory. Idempotent; no other method may be called afterwards. */
  close(): void {
    if (this.#address === 0) return;
    this.#kernels.exports.closeAccumulators(this.#address);
    this.#address = 0;
  }
}

/** An accumulator whose memory belongs to `Accumulators`. */
export class Accumulator {
  readonly #kernels: Kernels;
  readonly #type: NumericType;
  readonly #wantsSum: boolean;
  readonly #wantsExtremes: boolean;
  readonly #address: number;
  readonly #owner: Accumulators;

  constructor(
    kernels: Kernels,
    type: NumericType,
    options: AccumulatorOptions & { readonly address: number; readonly owner: Accumulators },
  ) {
    this.#kernels = kernels;
    this.#type = type;
    this.#wantsSum = options.wantsSum;
    this.#wantsExtremes = options.wantsExtremes;
    this.#address = options.address;
    this.#owner = options.owner;
  }

  /** Adds rows of one series in ascending order of time. */
  add(times: BigInt64Array, column: Column): void {
    assert(column.type === this.#type, 'a column has the type of its accumulator');
    const { valid } = column;
    const { timesAt, valuesAt, validAt } = copyRows(this.#kernels, times, column, valid);
    const { exports } = this.#kernels;
    if (exports.accumulate(this.#address, timesAt, valuesAt, validAt, times.length) === 0) {
      throw new Unavailable('kernel memory is exhausted');
    }
  }

  /** Adds the rows [from, to) of a chunk's cached columns. */
  addCached(times: CachedColumn, values: CachedColumn, rows: { from: number; to: number }): void {
    assert(values.type === this.#type && times.type === 'time', 'columns of the right types');
    const { exports } = this.#kernels;
    const isDone = exports.accumulateCached(
      this.#address,
      times.address,
      values.address,
      rows.from,
      rows.to,
    );
    if (isDone === 0) throw new Unavailable('kernel memory is exhausted');
  }

  /**
   * Adds the rows [from, to) of a chunk without their values. Only starts and counts are meaningful
   * afterwards.
   */
  addRows(times: CachedColumn, rows: { from: number; to: number }): void {
    assert(times.type === 'time' && this.#type === 'boolean', 'rows without values are counted');
    const { exports } = this.#kernels;
    if (exports.accumulateRows(this.#address, times.address, rows.from, rows.to) === 0) {
      throw new Unavailable('kernel memory is exhausted');
    }
  }

  /** Adds `count` rows of one window without reading them. `start` is the start of the window. */
  addPartial(start: Timestamp, count: number, partial: RowsPartial): void {
    const address = this.#kernels.scratch(Area.input, WINDOW_BYTES);
    const { words } = this.#kernels;
    // Writes words directly: this runs for thousands of chunks, and must not allocate.
    const at = address >>> 3;
    words[at + WINDOW.start / 8] = start;
    words[at + WINDOW.count / 8] = BigInt(count);
    words[at + WINDOW.sum / 8] = this.#bits(partial.sum);
    words[at + WINDOW.min / 8] = this.#bits(partial.min);
    words[at + WINDOW.minTime / 8] = partial.minTime;
    words[at + WINDOW.max / 8] = this.#bits(partial.max);
    words[at + WINDOW.maxTime / 8] = partial.maxTime;
    words[at + WINDOW.first / 8] = this.#bits(partial.first);
    words[at + WINDOW.firstTime / 8] = partial.firstTime;
    words[at + WINDOW.last / 8] = this.#bits(partial.last);
    words[at + WINDOW.lastTime / 8] = partial.lastTime;
    words[at + WINDOW.sumHigh / 8] =
      this.#type === 'integer' && words[at + WINDOW.sum / 8]! < 0n ? -1n : 0n;
    if (this.#kernels.exports.accumulateRecord(this.#address, address) === 0) {
      throw new Unavailable('kernel memory is exhausted');
    }
  }

  /**
   * All rows so far, when there is one window and sum and extremes are wanted; `undefined` when
   * there are no rows. A flush calls this per column and chunk.
   */
  whole(): RowsPartial | undefined {
    assert(this.#wantsSum && this.#wantsExtremes, 'all parts of a window are known');
    const record = this.#kernels.exports.firstWindow(this.#address);
    if (record === 0) return undefined;
    const { words } = this.#kernels;
    const at = record >>> 3;
    return {
      sum: this.#value(words[at + WINDOW.sum / 8]!),
      min: this.#value(words[at + WINDOW.min / 8]!),
      minTime: words[at + WINDOW.minTime / 8]!,
      max: this.#value(words[at + WINDOW.max / 8]!),
      maxTime: words[at + WINDOW.maxTime / 8]!,
      first: this.#value(words[at + WINDOW.first / 8]!),
      firstTime: words[at + WINDOW.firstTime / 8]!,
      last: this.#value(words[at + WINDOW.last / 8]!),
      lastTime: words[at + WINDOW.lastTime / 8]!,
    };
  }

  /** Number of windows of this group. */
  get windowCount(): number {
    return this.#kernels.exports.accumulatorCount(this.#address);
  }

  /**
   * Some results of all windows by start, ascending or descending, each as an array of 64-bit
   * words. The arrays are views of a buffer with results of other groups. Rows can still be added
   * afterwards.
   */
  results(names: readonly WindowResult[], options: { readonly descending: boolean }): Words[] {
    const count = this.windowCount;
    const output = this.#kernels.scratch(Area.output, count * names.length * 8);
    const { exports } = this.#kernels;
    names.forEach((name, i) => {
      const target = output + i * count * 8;
      exports.copyResult(this.#address, WINDOW_RESULTS[name], options.descending, target);
    });
    const { buffer, byteOffset } = this.#owner.copyOut(output, count * names.length);
    return names.map((_, i) => new Float64Array(buffer, byteOffset + i * count * 8, count));
  }

  /** Removes all windows. */
  reset(): void {
    this.#kernels.exports.resetAccumulator(this.#address);
  }

  /** Closes all accumulators that were opened together with this one. Idempotent. */
  close(): void {
    this.#owner.close();
  }

  #bits(value: number | bigint): bigint {
    return typeof value === 'bigint' ? value : floatBits(value);
  }

  #value(bits: bigint): number | bigint {
    if (this.#type === 'float') return floatOfBits(bits);
    return this.#type === 'integer' ? bits : BigInt.asUintN(64, bits);
  }
}

type CopiedRows = {
  readonly timesAt: number;
  readonly valuesAt: number;
  readonly validAt: number;
};

function copyRows(
  kernels: Kernels,
  times: BigInt64Array,
  column: Column,
  valid: Uint8Array | undefined,
): CopiedRows {
  assert(column.type !== 'string', 'strings are not accumulated');
  assert(times.length === column.values.length, 'every row has a time');
  return {
    timesAt: kernels.copyIn(Area.times, times),
    valuesAt: kernels.copyIn(Area.values, column.values),
    validAt: valid === undefined ? 0 : kernels.copyIn(Area.valid, valid),
  };
}
