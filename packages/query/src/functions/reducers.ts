// Reducers: the points of one window in, one or more points out. One accumulator lives as long as
// its group.
import type { Column, FieldType } from '@tidemark/core';
import type { Call } from '@tidemark/influxql';

import type { PointWriter } from '../batch/point-writer.ts';
import type { AggregateFunction } from '../series-source.ts';
import { integerOf, numberOf } from './arguments.ts';
import { CountAccumulator, SpreadAccumulator, SumAccumulator } from './sums.ts';
import { MergedFirstLast } from './first-last.ts';
import type { SeriesMerge } from './first-last.ts';
import { ExtremeAccumulator, FirstLastAccumulator } from './selectors.ts';
import { CountDistinctAccumulator, DistinctAccumulator, ModeAccumulator } from './distinct.ts';
import { MedianAccumulator, PercentileAccumulator, StddevAccumulator } from './value-lists.ts';
import { RankingAccumulator } from './ranking.ts';
import { SampleAccumulator } from './sample.ts';
import type { Calculation } from './steps.ts';

/** How the points of a window become one or more values. */
export type ReducerSpec =
  | {
      readonly kind:
        | AggregateFunction
        | 'median'
        | 'mode'
        | 'stddev'
        | 'distinct'
        | 'count-distinct';
    }
  | { readonly kind: 'percentile'; readonly percent: number }
  | { readonly kind: 'sample'; readonly size: number }
  | {
      readonly kind: 'top' | 'bottom';
      readonly size: number;
      /** Inputs whose combinations are distinguished; indexes into the plan's inputs. */
      readonly distinctInputs: readonly number[];
    };

/** Rows of one window, or a part of them. */
export type ReducerInput = {
  readonly times: BigInt64Array;
  /** The argument's column. */
  readonly column: Column;
  /** All inputs, for auxiliary columns. */
  readonly columns: readonly Column[];
};

/** Collects one window after another. */
export interface Accumulator {
  /** Takes rows `[from, to)`; nulls are no points. */
  add(input: ReducerInput, from: number, to: number): void;
  /**
   * Ends the window: appends its points, if it has any, and starts over. A point is stamped with
   * `stamp`, or with its own time when `stamp` is undefined. Long work is returned as steps, which
   * have to be run before any other call.
   */
  emit(stamp: bigint | undefined, out: PointWriter): Calculation | undefined;
}

export type AccumulatorContext = {
  readonly inputType: FieldType;
  /** Rows come, and points are emitted, newest first. */
  readonly descending: boolean;
  readonly random: () => number;
  /** Whether the row of a selected point is part of the answer: its own time, or other columns. */
  readonly needsRow: boolean;
  /** Present if `first` and `last` depend on how series were merged. */
  readonly merge?: SeriesMerge | undefined;
  /** Counts memory of the accumulator (negative when it is freed) as the query's. */
  readonly hold: (bytes: number) => void;
};

type Kind = ReducerSpec['kind'];
type SpecOf<K extends Kind> = ReducerSpec & { readonly kind: K };

/** Everything about a reducer except its accumulator. */
type ReducerRow<K extends Kind> = {
  readonly create: (spec: SpecOf<K>, context: AccumulatorContext) => Accumulator;
  /** Type of its values; that of the field if absent. */
  readonly type?: FieldType;
  /**
   * Value of windows without points in `fill`: 0 for counts; none if a window may have many points.
   */
  readonly fill?: 'zero' | 'never';
  /** Its values keep the times of their points: without windows if the call is alone, or always. */
  readonly pointTime?: 'alone' | 'always';
  /** The source can calculate it. */
  readonly isPushed?: K extends AggregateFunction ? true : never;
  /** Combines the results of sources, so that reading each of them may end separately. */
  readonly endsBySource?: true;
  /** Reads the arguments of a checked call; absent if the field is the only one. */
  readonly read?: (call: Call, tagInput: (name: string) => number) => Omit<SpecOf<K>, 'kind'>;
};

const SOURCE = { isPushed: true, endsBySource: true } as const;

/** A reducer consists of its accumulator and its row. */
const REDUCERS: { readonly [K in Kind]: ReducerRow<K> } = {
  count: { ...SOURCE, type: 'integer', fill: 'zero', create: () => new CountAccumulator() },
  'count-distinct': {
    type: 'integer',
    fill: 'zero',
    create: (_, context) => new CountDistinctAccumulator(context),
  },
  sum: { ...SOURCE, create: (_, { inputType }) => new SumAccumulator(inputType, 'value') },
  mean: {
    ...SOURCE,
    type: 'float',
    create: (_, { inputType }) => new SumAccumulator(inputType, 'mean'),
  },
  spread: { isPushed: true, create: (_, { inputType }) => new SpreadAccumulator(inputType) },
  min: { ...SOURCE, pointTime: 'alone', create: ({ kind }) => new ExtremeAccumulator(kind) },
  max: { ...SOURCE, pointTime: 'alone', create: ({ kind }) => new ExtremeAccumulator(kind) },
  first: { ...SOURCE, pointTime: 'alone', create: endAccumulator },
  last: { ...SOURCE, pointTime: 'alone', create: endAccumulator },
  median: { type: 'float', create: (_, context) => new MedianAccumulator(context) },
  mode: { create: (_, context) => new ModeAccumulator(context) },
  stddev: { type: 'float', create: (_, context) => new StddevAccumulator(context) },
  distinct: { fill: 'never', create: (_, context) => new DistinctAccumulator(context) },
  percentile: {
    pointTime: 'alone',
    create: ({ percent }, context) => new PercentileAccumulator(percent, context),
    read: (call) => ({ percent: numberOf(call.arguments.at(-1)) }),
  },
  sample: {
    pointTime: 'always',
    fill: 'never',
    create: ({ size }, context) => new SampleAccumulator(size, context),
    read: (call) => ({ size: integerOf(call.arguments.at(-1)) }),
  },
  top: { fill: 'never', pointTime: 'always', create: ranking, read: readRanking },
  bottom: { fill: 'never', pointTime: 'always', create: ranking, read: readRanking },
};

function endAccumulator(
  { kind }: { readonly kind: 'first' | 'last' },
  context: AccumulatorContext,
): Accumulator {
  return context.merge === undefined
    ? new FirstLastAccumulator(kind)
    : new MergedFirstLast(kind, context.merge, context);
}

function ranking(spec: SpecOf<'top' | 'bottom'>, context: AccumulatorContext): Accumulator {
  return new RankingAccumulator(spec, context);
}

function readRanking(
  call: Call,
  tagInput: (name: string) => number,
): Omit<SpecOf<'top' | 'bottom'>, 'kind'> {
  const tags = call.arguments.slice(1, -1);
  return {
    size: integerOf(call.arguments.at(-1)),
    distinctInputs: tags.map((tag) => (tag.kind === 'reference' ? tagInput(tag.name) : -1)),
  };
}

/** The properties of a reducer. */
export function reducerRow<K extends Kind>({ kind }: SpecOf<K>): ReducerRow<K> {
  return REDUCERS[kind];
}

/** The reduction of a checked call; `undefined` if no reducer has its name. */
export function reducerSpec(
  kind: string,
  call: Call,
  tagInput: (name: string) => number,
): ReducerSpec | undefined {
  if (!Object.hasOwn(REDUCERS, kind)) return undefined;
  return { kind, ...REDUCERS[kind as Kind].read?.(call, tagInput) } as ReducerSpec;
}

/** The source's function for a reducer, if there is one. */
export function pushedFunction({ kind }: ReducerSpec): AggregateFunction | undefined {
  return REDUCERS[kind].isPushed === true ? (kind as AggregateFunction) : undefined;
}

/** A new accumulator for a group. */
export function createAccumulator(spec: ReducerSpec, context: AccumulatorContext): Accumulator {
  return reducerRow(spec).create(spec, context);
}
