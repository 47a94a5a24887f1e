// Building blocks for functions of the query language over the values of a batch.
import type { Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';

/** Values of one field, with the points they come from. All values have the type. */
export type Samples = {
  readonly type: ValueType;
  readonly values: readonly Value[] | Float64Array;
  readonly points: SamplePoints;
};

/** Points by the index of their sample. */
export type SamplePoints = {
  pointAt(index: number): Point;
  timeAt(index: number): bigint;
};

export type AggregateResult = {
  readonly value: Value;
  /** Default: the type of the samples. */
  readonly type?: ValueType | undefined;
  /** Index of the sample that the value comes from. */
  readonly index?: number | undefined;
  /** Time of the value if it differs from that of the sample. */
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
  /** Beside that of the samples it looks at these fields of the points; some may be tags. */
  readonly otherFields?: readonly string[] | undefined;
  /** Results keep the tags of their points. */
  readonly isKeepingTags?: boolean | undefined;
  /** The result for an empty batch. */
  readonly empty?: { readonly type: ValueType; readonly value: Value } | undefined;
  /** The result for a batch without a usable value. */
  readonly emptyAfterErrors?: { readonly type: ValueType; readonly value: Value } | undefined;
  readonly apply: (samples: Samples) => readonly AggregateResult[];
};

export const NUMBERS: readonly ValueType[] = ['float', 'int'];
export const ANY: readonly ValueType[] = ['float', 'int', 'string', 'boolean'];

/** Order of values of one type: numbers, strings by their units, false before true. */
export function compareValues(a: Value, b: Value): number {
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

/** One value without a time of its own. */
export const one = (value: Value, type?: ValueType): AggregateResult[] => [
  { value, type, isAtPoint: false },
];

/** The sum of integers does not wrap here. */
export function sum(samples: Samples): number | bigint {
  if (samples.type === 'int') {
    let total = 0n;
    for (const value of samples.values as readonly bigint[]) total += value;
    return total;
  }
  const values = samples.values as readonly number[] | Float64Array;
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i] as number;
  return total;
}

/** Emits the sample at `index`. */
export const selected = (samples: Samples, index: number): AggregateResult[] => [
  { value: samples.values[index] ?? null, index, isAtPoint: true },
];

/** A selector by a comparison: the first of the best samples. */
export function selector(
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

/** Time of a sample. */
export const timeAt = (samples: Samples, i: number): bigint => samples.points.timeAt(i);
/** Order of two samples by their values. */
export const compareAt = (samples: Samples, a: number, b: number): number =>
  compareValues(samples.values[a] ?? null, samples.values[b] ?? null);
