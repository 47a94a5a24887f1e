// distinct, count(distinct()) and mode: reducers that keep one entry per different value of the window.
import type { FieldValue } from '@tidemark/core';
import { columnValue, compareBytes } from '@tidemark/core';

import type { LeafWriter } from '../operators/leaf-writer.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import type { Steps } from './steps.ts';
import { finishSteps, isStepped, sortInSteps, STEP_ITEMS } from './steps.ts';

const EPOCH = 0n;

/** Bytes that one entry takes, about. */
const ENTRY_BYTES = 100;

type Entry = {
  count: number;
  /** Time of the first one in the order of the query. */
  readonly first: bigint;
  earliest: bigint;
  latest: bigint;
};

/** Order of values of one type: numbers by size, false before true, strings by bytes. */
export function compareValues(a: FieldValue, b: FieldValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b);
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function compareTimes(a: Entry, b: Entry): number {
  if (a.first < b.first) return -1;
  return a.first > b.first ? 1 : 0;
}

abstract class PerValueAccumulator implements Accumulator {
  #entries = new Map<FieldValue, Entry>();
  readonly #hold: (bytes: number) => void;

  constructor({ hold }: AccumulatorContext) {
    this.#hold = hold;
  }

  add({ times, column }: ReducerInput, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = columnValue(column, i);
      if (value === null) continue;
      const time = times[i]!;
      const entry = this.#entries.get(value);
      if (entry === undefined) {
        this.#hold(ENTRY_BYTES);
        this.#entries.set(value, { count: 1, first: time, earliest: time, latest: time });
        continue;
      }
      entry.count++;
      if (time < entry.earliest) entry.earliest = time;
      if (time > entry.latest) entry.latest = time;
    }
  }

  emit(stamp: bigint | undefined, out: LeafWriter): Steps | undefined {
    const steps = this.#emitInSteps(stamp ?? EPOCH, out);
    if (isStepped(this.#entries.size)) return steps;
    finishSteps(steps);
    return undefined;
  }

  *#emitInSteps(stamp: bigint, out: LeafWriter): Steps {
    const entries = this.#entries;
    if (entries.size > 0) yield* this.reduce(entries, stamp, out);
    this.#entries = new Map();
    this.#hold(-entries.size * ENTRY_BYTES);
  }

  /** Appends what the values of a window come to. There is at least one. */
  protected abstract reduce(
    entries: ReadonlyMap<FieldValue, Entry>,
    stamp: bigint,
    out: LeafWriter,
  ): Steps;
}

/** The different values by the time of their first occurrence in the query's order, among equal times the smaller one first. */
export class DistinctAccumulator extends PerValueAccumulator {
  protected *reduce(
    entries: ReadonlyMap<FieldValue, Entry>,
    stamp: bigint,
    out: LeafWriter,
  ): Steps {
    const ordered = yield* sortInSteps(
      [...entries],
      ([a, first], [b, second]) => compareTimes(first, second) || compareValues(a, b),
    );
    for (const [i, [value]] of ordered.entries()) {
      out.append(stamp, value);
      if ((i + 1) % STEP_ITEMS === 0) yield;
    }
  }
}

/** The number of different values. */
export class CountDistinctAccumulator extends PerValueAccumulator {
  // oxlint-disable-next-line require-yield -- its size is known
  protected *reduce(
    entries: ReadonlyMap<FieldValue, Entry>,
    stamp: bigint,
    out: LeafWriter,
  ): Steps {
    out.append(stamp, BigInt(entries.size));
  }
}

/**
 * The most frequent value. Where every value occurs once, it is the smallest. Among equally frequent ones a larger
 * value wins when it began before the smaller one had ended (recorded). Of booleans that tie, true.
 */
export class ModeAccumulator extends PerValueAccumulator {
  protected *reduce(
    entries: ReadonlyMap<FieldValue, Entry>,
    stamp: bigint,
    out: LeafWriter,
  ): Steps {
    const ordered = yield* sortInSteps([...entries], ([a], [b]) => compareValues(a, b));
    let best = ordered[0];
    for (let i = 1; i < ordered.length; i++) {
      const candidate = ordered[i]!;
      if (best === undefined || isMoreFrequent(candidate, best)) best = candidate;
      if (i % STEP_ITEMS === 0) yield;
    }
    if (best !== undefined) out.append(stamp, best[0]);
  }
}

/** Whether the larger of two values takes the place of the smaller one. */
function isMoreFrequent(
  [value, larger]: readonly [FieldValue, Entry],
  [, smaller]: readonly [FieldValue, Entry],
): boolean {
  if (larger.count !== smaller.count) return larger.count > smaller.count;
  if (typeof value === 'boolean') return true;
  return larger.count > 1 && larger.earliest <= smaller.latest;
}
