// Functions of the query language over the values of a batch. One row per function.
import type { Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { numberOfRank } from './rank.ts';

/** Values of one field, with the points they come from. All values have the type. */
export type Samples = {
  readonly type: ValueType;
  readonly values: readonly Value[];
  readonly points: readonly Point[];
};

export type AggregateResult = {
  readonly value: Value;
  /** Default: the type of the samples. */
  readonly type?: ValueType | undefined;
  /** Sample that the value comes from. */
  readonly index?: number | undefined;
  /** Time of the value where it is not that of the sample. */
  readonly time?: bigint | undefined;
  /** `usePointTimes` takes the value's own time. */
  readonly isAtPoint: boolean;
  /** The value has its own time even without `usePointTimes`. */
  readonly isAlwaysTimed?: boolean | undefined;
};

export type Aggregate = {
  readonly types: readonly ValueType[];
  /** Emits a batch of results, not a point. */
  readonly isMany?: boolean | undefined;
  /** The result is the selected point with all its fields and tags. */
  readonly isSelector?: boolean | undefined;
  /** Results keep the tags of their points. */
  readonly isKeepingTags?: boolean | undefined;
  /** What an empty batch gives. */
  readonly empty?: { readonly type: ValueType; readonly value: Value } | undefined;
  /** What a batch without a usable value gives. */
  readonly emptyAfterErrors?: { readonly type: ValueType; readonly value: Value } | undefined;
  readonly apply: (samples: Samples) => readonly AggregateResult[];
};

export const NUMBERS: readonly ValueType[] = ['float', 'int'];
export const ANY: readonly ValueType[] = ['float', 'int', 'string', 'boolean'];

/** Order of values of one type: numbers, strings by their units, false before true. */
export function compareValues(a: Value, b: Value): number {
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

const one = (value: Value, type?: ValueType): AggregateResult[] => [
  { value, type, isAtPoint: false },
];

const wrap = (value: bigint): bigint => BigInt.asIntN(64, value);

/** The sum of integers does not wrap here. */
function sum(samples: Samples): number | bigint {
  if (samples.type === 'int') {
    let total = 0n;
    for (const value of samples.values) total += value as bigint;
    return total;
  }
  let total = 0;
  for (const value of samples.values) total += value as number;
  return total;
}

const count: Aggregate = {
  types: ANY,
  empty: { type: 'int', value: 0n },
  emptyAfterErrors: { type: 'int', value: 0n },
  apply: ({ values }) => one(BigInt(values.length), 'int'),
};

const mean: Aggregate = {
  types: NUMBERS,
  apply: (samples) => one(Number(sum(samples)) / samples.values.length, 'float'),
};

const median: Aggregate = {
  types: NUMBERS,
  apply: ({ values }) => {
    const sorted = [...values].sort(compareValues);
    const middle = sorted.length >> 1;
    const high = sorted[middle] ?? null;
    if (sorted.length % 2 === 1) return one(Number(high), 'float');
    const low = sorted[middle - 1] ?? null;
    // As recorded: the lower middle plus half of the difference.
    return one(Number(low) + (Number(high) - Number(low)) / 2, 'float');
  },
};

/**
 * Most frequent value; of equally frequent ones that seen first, unless all are single: then the
 * smallest.
 */
const mode: Aggregate = {
  types: NUMBERS,
  apply: ({ values }) => {
    const counts = new Map<Value, number>();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    let best: Value = null;
    let bestCount = 0;
    for (const [value, count] of counts) {
      const isSmaller = count === 1 && bestCount === 1 && compareValues(value, best) < 0;
      if (count > bestCount || isSmaller) [best, bestCount] = [value, count];
    }
    return one(best);
  },
};

const spread: Aggregate = {
  types: NUMBERS,
  apply: ({ values, type }) => {
    let min = values[0] ?? null;
    let max = min;
    for (const value of values) {
      if (compareValues(value, min) < 0) min = value;
      if (compareValues(value, max) > 0) max = value;
    }
    if (type === 'int') return one(wrap((max as bigint) - (min as bigint)));
    return one((max as number) - (min as number));
  },
};

const stddev: Aggregate = {
  types: NUMBERS,
  apply: ({ values }) => {
    const numbers = values.map(Number);
    if (numbers.length < 2) return one(0, 'float');
    let average = 0;
    for (const [i, value] of numbers.entries()) average += (value - average) / (i + 1);
    let squares = 0;
    for (const value of numbers) squares += (value - average) ** 2;
    return one(Math.sqrt(squares / (numbers.length - 1)), 'float');
  },
};

/** Emits the sample at `index`. */
const selected = (samples: Samples, index: number): AggregateResult[] => [
  { value: samples.values[index] ?? null, index, isAtPoint: true },
];

/** A selector by a comparison: the first sample that no other beats. */
function selector(
  types: readonly ValueType[],
  isBetter: (candidate: number, best: number, samples: Samples) => boolean,
): Aggregate {
  return {
    types,
    isSelector: true,
    apply: (samples) => {
      let best = 0;
      for (let i = 1; i < samples.values.length; i++) if (isBetter(i, best, samples)) best = i;
      return selected(samples, best);
    },
  };
}

const timeAt = (samples: Samples, i: number): bigint => samples.points[i]?.time ?? 0n;
const compareAt = (samples: Samples, a: number, b: number): number =>
  compareValues(samples.values[a] ?? null, samples.values[b] ?? null);

const first = selector(ANY, (candidate, best, samples) => {
  const [a, b] = [timeAt(samples, candidate), timeAt(samples, best)];
  return a < b || (a === b && compareAt(samples, candidate, best) > 0);
});

const last = selector(ANY, (candidate, best, samples) => {
  const [a, b] = [timeAt(samples, candidate), timeAt(samples, best)];
  return a > b || (a === b && compareAt(samples, candidate, best) > 0);
});

const min = selector(NUMBERS, (candidate, best, samples) => {
  const order = compareAt(samples, candidate, best);
  return order < 0 || (order === 0 && timeAt(samples, candidate) < timeAt(samples, best));
});

const max = selector(NUMBERS, (candidate, best, samples) => {
  const order = compareAt(samples, candidate, best);
  return order > 0 || (order === 0 && timeAt(samples, candidate) < timeAt(samples, best));
});

/**
 * Nearest rank; out of range gives nothing. Of equal values the earlier in the batch has the lower
 * rank.
 */
export function percentile(p: number): Aggregate {
  return {
    types: NUMBERS,
    isSelector: true,
    apply: (samples) => {
      const { values } = samples;
      const rank = Math.floor((values.length * p) / 100 + 0.5) - 1;
      if (rank < 0 || rank >= values.length) return [];
      return selected(samples, indexOfRank(values, rank));
    },
  };
}

/** Where the value of that rank lies; of equal ones each has a rank of its own, in their order. */
function indexOfRank(values: readonly Value[], rank: number): number {
  return typeof values[0] === 'bigint'
    ? indexOfInteger(values as readonly bigint[], rank)
    : indexOfNumber(values as readonly number[], rank);
}

function indexOfNumber(values: readonly number[], rank: number): number {
  const wanted = numberOfRank(values, rank);
  if (Number.isNaN(wanted)) return values.findIndex((value) => Number.isNaN(value));
  let skip = rank;
  for (let i = 0; i < values.length; i++) if ((values[i] as number) < wanted) skip--;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === wanted && skip-- === 0) return i;
  }
  return 0;
}

function indexOfInteger(values: readonly bigint[], rank: number): number {
  const wanted = BigInt64Array.from(values).sort()[rank] as bigint;
  let skip = rank;
  for (const value of values) if (value < wanted) skip--;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === wanted && skip-- === 0) return i;
  }
  return 0;
}

/** One result per distinct value, in order of first appearance in time. */
const distinct: Aggregate = {
  types: ANY,
  isMany: true,
  apply: (samples) => {
    const firstOf = new Map<Value, number>();
    samples.values.forEach((value, i) => {
      const known = firstOf.get(value);
      if (known === undefined || timeAt(samples, i) < timeAt(samples, known)) firstOf.set(value, i);
    });
    const indexes = [...firstOf.values()].sort(
      (a, b) => compareValues(timeAt(samples, a), timeAt(samples, b)) || compareAt(samples, a, b),
    );
    return indexes.map((index) => ({
      value: samples.values[index] ?? null,
      index,
      isAtPoint: true,
    }));
  },
};

/**
 * The n best values; results in order of time, equal times best first. `direction` is 1 for bottom,
 * -1 for top. Of the points that have the same values of `tags` only the best takes part; names of
 * fields are no tags.
 */
export function ranked(n: number, direction: 1 | -1, tags: readonly string[]): Aggregate {
  return {
    types: NUMBERS,
    isMany: true,
    isKeepingTags: true,
    apply: (samples) => {
      const order = samples.values.map((_, i) => i);
      const byValue = (a: number, b: number): number => direction * compareAt(samples, a, b);
      const byTime = (a: number, b: number): number =>
        compareValues(timeAt(samples, a), timeAt(samples, b));
      order.sort((a, b) => byValue(a, b) || byTime(a, b) || a - b);
      const taking = tags.length === 0 ? order : firstOfTags(order, samples, tags);
      const best = taking.slice(0, Math.max(0, n));
      best.sort((a, b) => byTime(a, b) || byValue(a, b) || a - b);
      return best.map((index) => ({
        value: samples.values[index] ?? null,
        index,
        isAtPoint: true,
      }));
    },
  };
}

/** The first index for each combination of tag values. */
function firstOfTags(
  order: readonly number[],
  { points }: Samples,
  names: readonly string[],
): readonly number[] {
  const seen = new Set<string>();
  return order.filter((index) => {
    const point = points[index] as Point;
    const tags = names.filter((name) => point.schema.field(name) === undefined);
    const key = tags.map((name) => point.series.tag(name) ?? '').join('\u0000');
    if (tags.length > 0 && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** The functions without arguments of their own. */
export const AGGREGATES: ReadonlyMap<string, Aggregate> = new Map([
  ['count', count],
  ['distinct', distinct],
  ['mean', mean],
  ['median', median],
  ['mode', mode],
  ['spread', spread],
  [
    'sum',
    {
      types: NUMBERS,
      empty: { type: 'float', value: 0 },
      emptyAfterErrors: { type: 'float', value: 0 },
      apply: (samples) => {
        const total = sum(samples);
        return one(typeof total === 'bigint' ? wrap(total) : total);
      },
    } satisfies Aggregate,
  ],
  ['first', first],
  ['last', last],
  ['min', min],
  ['max', max],
  ['stddev', stddev],
]);
