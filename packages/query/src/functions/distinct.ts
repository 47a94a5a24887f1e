// distinct, count(distinct()) and mode: reducers that keep one entry per distinct value of the
// window.
import { hash } from 'node:crypto';

import type { FieldType } from '@tidemark/core';

import type { PointWriter } from '../batch/point-writer.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import { orderInSteps, stepsIfMany, STEP_ITEMS } from './steps.ts';
import { NO_VALUE, ValueTable } from './value-table.ts';
import type { Calculation } from './steps.ts';

const EPOCH = 0n;

const FIRST_CAPACITY = 16;
/** Longer arrays are not reused for the next window. */
const REUSED_CAPACITY = 1024;

/** Data about each value of a window, by the value's number. */
class PerValue<A extends BigInt64Array | Uint32Array> {
  readonly #make: (length: number) => A;
  readonly #hold: (bytes: number) => void;
  #array: A;

  constructor(make: (length: number) => A, hold: (bytes: number) => void) {
    this.#make = make;
    this.#hold = hold;
    this.#array = make(0);
  }

  /** The array, with room for `count` values. Data of new values is unspecified. */
  forValues(count: number): A {
    const before = this.#array;
    if (before.length >= count) return before;
    const after = this.#make(Math.max(FIRST_CAPACITY, count, 2 * before.length));
    // Both have the same type, which the compiler cannot relate.
    (after as Uint32Array).set(before as Uint32Array);
    this.#hold(after.byteLength - before.byteLength);
    this.#array = after;
    return after;
  }

  clear(): void {
    if (this.#array.length <= REUSED_CAPACITY) return;
    this.#hold(-this.#array.byteLength);
    this.#array = this.#make(0);
  }
}

abstract class PerValueAccumulator implements Accumulator {
  readonly values: ValueTable;

  constructor({ inputType, hold }: AccumulatorContext, kept?: (text: string) => string) {
    this.values = new ValueTable(inputType, hold, kept);
  }

  add({ times, column }: ReducerInput, from: number, to: number): void {
    const sizeBefore = this.values.size;
    const numbers = this.values.add(column, from, to);
    this.see(numbers, times.subarray(from, to), sizeBefore);
  }

  emit(stamp: bigint | undefined, out: PointWriter): Calculation | undefined {
    return stepsIfMany(this.values.size, this.#emitInSteps(stamp ?? EPOCH, out));
  }

  *#emitInSteps(stamp: bigint, out: PointWriter): Calculation {
    if (this.values.size > 0) yield* this.reduce(stamp, out);
    this.values.clear();
    this.forget();
  }

  /**
   * Processes rows by the numbers of their values; numbers below `sizeBefore` have been seen
   * before, new ones come in order.
   */
  protected abstract see(numbers: Uint32Array, times: BigInt64Array, sizeBefore: number): void;

  /** Appends the result of a window, which has at least one value. */
  protected abstract reduce(stamp: bigint, out: PointWriter): Calculation;

  /** The window has ended. */
  protected abstract forget(): void;
}

/**
 * The distinct values by the time of their first occurrence in the query's order; among equal times
 * the smaller one comes first.
 */
export class DistinctAccumulator extends PerValueAccumulator {
  readonly #descending: boolean;
  readonly #firsts: PerValue<BigInt64Array>;

  constructor(context: AccumulatorContext) {
    super(context);
    this.#descending = context.descending;
    this.#firsts = new PerValue((length) => new BigInt64Array(length), context.hold);
  }

  protected see(numbers: Uint32Array, times: BigInt64Array, sizeBefore: number): void {
    const firsts = this.#firsts.forValues(this.values.size);
    const descending = this.#descending;
    let next = sizeBefore;
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i]!;
      if (number === NO_VALUE) continue;
      const time = times[i]!;
      if (number === next) firsts[next++] = time;
      // Rows of several series may come one series after another.
      else if (descending ? time > firsts[number]! : time < firsts[number]!) firsts[number] = time;
    }
  }

  protected *reduce(stamp: bigint, out: PointWriter): Calculation {
    const { values } = this;
    const firsts = this.#firsts.forValues(values.size);
    const ordered = yield* orderInSteps(values.size, (a, b) => {
      const x = firsts[a]!;
      const y = firsts[b]!;
      if (x === y) return values.compare(a, b);
      return x < y ? -1 : 1;
    });
    for (let i = 0; i < ordered.length; i++) {
      out.append(stamp, values.valueOf(ordered[i]!));
      if ((i + 1) % STEP_ITEMS === 0) yield;
    }
  }

  protected forget(): void {
    this.#firsts.clear();
  }
}

/** Texts of at most this length are kept whole. */
const WHOLE_CHARS_MAX = 256;

/** Stands for a text where only its identity matters. No text has a lone surrogate. */
function identityOf(text: string): string {
  return text.length <= WHOLE_CHARS_MAX ? text : `\uD800${hash('sha256', text, 'latin1')}`;
}

/** The number of distinct values. Of long texts it keeps digests: no limit of memory is reached. */
export class CountDistinctAccumulator extends PerValueAccumulator {
  constructor(context: AccumulatorContext) {
    super(context, identityOf);
  }

  protected see(): void {
    // The values themselves are enough.
  }

  // oxlint-disable-next-line require-yield -- its size is known
  protected *reduce(stamp: bigint, out: PointWriter): Calculation {
    out.append(stamp, BigInt(this.values.size));
  }

  protected forget(): void {
    // Nothing is kept besides the values.
  }
}

/**
 * The most frequent value. Where every value occurs once, it is the smallest. Among equally
 * frequent ones a larger value wins when it began before the smaller one had ended (recorded). Of
 * booleans that tie, true.
 */
export class ModeAccumulator extends PerValueAccumulator {
  readonly #type: FieldType;
  readonly #counts: PerValue<Uint32Array>;
  /** Times of the earliest and the latest occurrence. */
  readonly #firsts: PerValue<BigInt64Array>;
  readonly #lasts: PerValue<BigInt64Array>;

  constructor(context: AccumulatorContext) {
    super(context);
    const { inputType, hold } = context;
    this.#type = inputType;
    this.#counts = new PerValue((length) => new Uint32Array(length), hold);
    this.#firsts = new PerValue((length) => new BigInt64Array(length), hold);
    this.#lasts = new PerValue((length) => new BigInt64Array(length), hold);
  }

  protected see(numbers: Uint32Array, times: BigInt64Array, sizeBefore: number): void {
    const { size } = this.values;
    const counts = this.#counts.forValues(size);
    const firsts = this.#firsts.forValues(size);
    const lasts = this.#lasts.forValues(size);
    let next = sizeBefore;
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i]!;
      if (number === NO_VALUE) continue;
      if (number === next) {
        next++;
        counts[number] = 1;
        firsts[number] = times[i]!;
        lasts[number] = times[i]!;
        continue;
      }
      counts[number]!++;
      const time = times[i]!;
      if (time < firsts[number]!) firsts[number] = time;
      if (time > lasts[number]!) lasts[number] = time;
    }
  }

  protected *reduce(stamp: bigint, out: PointWriter): Calculation {
    const { values } = this;
    const tied = yield* this.#mostFrequent();
    const [first] = tied;
    if (first === undefined) return;
    if (this.#counts.forValues(values.size)[first] === 1 && this.#type !== 'boolean') {
      out.append(stamp, values.valueOf(yield* this.#smallestOf(tied)));
      return;
    }
    const ordered = yield* orderInSteps(tied.length, (a, b) => values.compare(tied[a]!, tied[b]!));
    let best = tied[ordered[0]!]!;
    for (let i = 1; i < ordered.length; i++) {
      const larger = tied[ordered[i]!]!;
      if (this.#type === 'boolean' || this.#beganBeforeEndOf(larger, best)) best = larger;
      if (i % STEP_ITEMS === 0) yield;
    }
    out.append(stamp, values.valueOf(best));
  }

  protected forget(): void {
    this.#counts.clear();
    this.#firsts.clear();
    this.#lasts.clear();
  }

  /** Numbers of the most frequent values, in the order of their first occurrence. */
  *#mostFrequent(): Calculation<readonly number[]> {
    const { size } = this.values;
    const counts = this.#counts.forValues(size);
    let most = 0;
    let tied: number[] = [];
    for (let number = 0; number < size; number++) {
      const count = counts[number]!;
      if (count > most) {
        most = count;
        tied = [];
      }
      if (count === most) tied.push(number);
      if ((number + 1) % STEP_ITEMS === 0) yield;
    }
    return tied;
  }

  *#smallestOf(numbers: readonly number[]): Calculation<number> {
    let smallest = numbers[0]!;
    for (let i = 1; i < numbers.length; i++) {
      if (this.values.compare(numbers[i]!, smallest) < 0) smallest = numbers[i]!;
      if (i % STEP_ITEMS === 0) yield;
    }
    return smallest;
  }

  #beganBeforeEndOf(larger: number, smaller: number): boolean {
    const { size } = this.values;
    const firsts = this.#firsts.forValues(size);
    const lasts = this.#lasts.forValues(size);
    return firsts[larger]! <= lasts[smaller]!;
  }
}
