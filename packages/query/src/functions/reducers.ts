// Reducers: the points of one window in, one or more points out. One accumulator lives as long as
// its group.
import type { Column, FieldType } from '@tidemark/core';
import type { Call } from '@tidemark/influxql';

import type { PointWriter } from '../batch/point-writer.ts';
import { RANKED_MOST } from '../limits.ts';
import type { AggregateFunction, BestRows, FoldFunction } from '../series-source.ts';
import { integerOf, numberOf } from './arguments.ts';
import { CountAccumulator, SpreadAccumulator, SumAccumulator } from './sums.ts';
import { MergedFirstLast } from './first-last.ts';
import type { SeriesMerge } from './first-last.ts';
import { ExtremeAccumulator, FirstLastAccumulator } from './selectors.ts';
import { CountDistinctAccumulator, DistinctAccumulator, ModeAccumulator } from './distinct.ts';
import { MedianAccumulator, PercentileAccumulator, StddevAccumulator } from './value-lists.ts';
import { RankingAccumulator } from './ranking.ts';
import type { RankingSpec } from './ranking.ts';
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
  | RankingSpec;

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

/** The source's function, or why rows are reduced here. */
export type Fold =
  | { readonly kind: 'aggregate'; readonly name: AggregateFunction }
  | { readonly kind: 'points'; readonly function: FoldFunction }
  /** Rows that have the points, with other columns. */
  | { readonly kind: 'best'; readonly order: BestRows['order']; readonly count: number }
  | { readonly kind: 'rows'; readonly why: string };

/** What is part of the answer besides the values of the points. */
export type FoldNeeds = {
  /** The time of a selected point, where the function has it only then. */
  readonly pointTime: boolean;
  /** Other columns of the rows of selected points. */
  readonly auxiliary: boolean;
  /** Whether all inputs that distinguish points are tags. */
  readonly distinguishesTags: boolean;
};

/** What a window is reduced to, or the reason why rows are needed. */
type FoldRow<K extends Kind> =
  | (K extends AggregateFunction ? 'aggregate' : never)
  | (K extends FoldFunction['kind'] ? 'points' : never)
  | { readonly rows: string };

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
  /** What the source can reduce the rows of a window to. */
  readonly fold: FoldRow<K>;
  /** What it selects, if its points are rows: these are found with all their columns. */
  readonly best?: BestRows['order'];
  /**
   * Its points do not depend on the order of the rows: never with other columns, and of `integers`
   * only where sums of floats are rounded.
   */
  readonly anyOrder?: true | 'integers';
  /** Combines the results of sources, so that reading each of them may end separately. */
  readonly endsBySource?: true;
  /** Reads the arguments of a checked call; absent if the field is the only one. */
  readonly read?: (call: Call, tagInput: (name: string) => number) => Omit<SpecOf<K>, 'kind'>;
};

const SOURCE = { fold: 'aggregate', endsBySource: true, anyOrder: true } as const;

/** Every value counts, wherever it comes. */
const OF_VALUES = { fold: 'points', anyOrder: true } as const;

const SELECTOR = { ...SOURCE, pointTime: 'alone' } as const;

const RANKING = { ...OF_VALUES, fill: 'never', pointTime: 'always' } as const;

/** A reducer consists of its accumulator and its row. */
const REDUCERS: { readonly [K in Kind]: ReducerRow<K> } = {
  count: { ...SOURCE, type: 'integer', fill: 'zero', create: () => new CountAccumulator() },
  'count-distinct': {
    ...OF_VALUES,
    type: 'integer',
    fill: 'zero',
    create: (_, context) => new CountDistinctAccumulator(context),
  },
  sum: {
    ...SOURCE,
    anyOrder: 'integers',
    create: (_, { inputType }) => new SumAccumulator(inputType, 'value'),
  },
  mean: {
    ...SOURCE,
    anyOrder: 'integers',
    type: 'float',
    create: (_, { inputType }) => new SumAccumulator(inputType, 'mean'),
  },
  spread: {
    fold: 'aggregate',
    anyOrder: true,
    create: (_, { inputType }) => new SpreadAccumulator(inputType),
  },
  min: { ...SELECTOR, best: 'bottom', create: ({ kind }) => new ExtremeAccumulator(kind) },
  max: { ...SELECTOR, best: 'top', create: ({ kind }) => new ExtremeAccumulator(kind) },
  first: { ...SELECTOR, best: 'first', create: endAccumulator },
  last: { ...SELECTOR, best: 'last', create: endAccumulator },
  median: { ...OF_VALUES, type: 'float', create: (_, context) => new MedianAccumulator(context) },
  mode: { ...OF_VALUES, create: (_, context) => new ModeAccumulator(context) },
  stddev: {
    fold: { rows: 'its digits depend on the order of the rows' },
    type: 'float',
    create: (_, context) => new StddevAccumulator(context),
  },
  distinct: {
    ...OF_VALUES,
    fill: 'never',
    create: (_, context) => new DistinctAccumulator(context),
  },
  percentile: {
    ...OF_VALUES,
    pointTime: 'alone',
    create: ({ percent }, context) => new PercentileAccumulator(percent, context),
    read: (call) => ({ percent: numberOf(call.arguments.at(-1)) }),
  },
  sample: {
    fold: { rows: 'it chooses among rows in the order of the query' },
    pointTime: 'always',
    fill: 'never',
    create: ({ size }, context) => new SampleAccumulator(size, context),
    read: (call) => ({ size: integerOf(call.arguments.at(-1)) }),
  },
  top: { ...RANKING, best: 'top', create: ranking, read: readRanking },
  bottom: { ...RANKING, best: 'bottom', create: ranking, read: readRanking },
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

/**
 * Whether the points of a reduction do not depend on the order of its rows. The time of the point
 * of a percentile does.
 */
export function takesAnyOrder(
  spec: ReducerSpec,
  inputType: FieldType,
  { pointTime, auxiliary }: Pick<FoldNeeds, 'pointTime' | 'auxiliary'>,
): boolean {
  const { anyOrder } = reducerRow(spec) as ReducerRow<Kind>;
  if (auxiliary || (pointTime && spec.kind === 'percentile')) return false;
  if ('distinctInputs' in spec && spec.distinctInputs.length > 0) return false;
  return anyOrder === true || (anyOrder === 'integers' && inputType !== 'float');
}

/** What the source can reduce the windows of a call to. */
export function foldOf(spec: ReducerSpec, needs: FoldNeeds): Fold {
  const { fold, best } = reducerRow(spec) as ReducerRow<Kind>;
  const isRanking = 'distinctInputs' in spec;
  if (isRanking && spec.size > RANKED_MOST) return { kind: 'rows', why: 'it has very many points' };
  if (needs.auxiliary || (isRanking && spec.distinctInputs.length > 0)) {
    if (best === undefined) return { kind: 'rows', why: 'other columns of its rows are selected' };
    if (!needs.distinguishesTags) return { kind: 'rows', why: 'its points differ in fields' };
    return { kind: 'best', order: best, count: isRanking ? spec.size : 1 };
  }
  if (typeof fold === 'object') return { kind: 'rows', why: fold.rows };
  // The table allows no other combination.
  return fold === 'aggregate'
    ? { kind: 'aggregate', name: spec.kind as AggregateFunction }
    : { kind: 'points', function: needs.pointTime ? withTime(spec) : (spec as FoldFunction) };
}

/** Other functions have the times of their points anyway, or none. */
function withTime(spec: ReducerSpec): FoldFunction {
  return spec.kind === 'percentile' ? { ...spec, hasTime: true } : (spec as FoldFunction);
}

/** A new accumulator for a group. */
export function createAccumulator(spec: ReducerSpec, context: AccumulatorContext): Accumulator {
  return reducerRow(spec).create(spec, context);
}
