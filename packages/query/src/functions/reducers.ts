// Reducers: the points of one window in, one or more points out. One accumulator lives as long as
// its group.
import type { Column, FieldType } from '@tidemark/core';
import { unreachable } from '@tidemark/core';

import type { PointWriter } from '../batch/point-writer.ts';
import { CountAccumulator, MeanAccumulator, SpreadAccumulator, SumAccumulator } from './sums.ts';
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
        | 'count'
        | 'sum'
        | 'mean'
        | 'min'
        | 'max'
        | 'first'
        | 'last'
        | 'spread'
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
      /** Inputs whose combinations are told apart; indexes into the plan's inputs. */
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

/** Gathers one window after the other. */
export interface Accumulator {
  /** Takes rows `[from, to)`; nulls are no points. */
  add(input: ReducerInput, from: number, to: number): void;
  /**
   * Ends the window: appends its points, if it has any, and starts over. A point is stamped with
   * `stamp`, or with its own time when `stamp` is undefined. What takes long comes back as steps
   * that have to be done before anything else is asked of the accumulator.
   */
  emit(stamp: bigint | undefined, out: PointWriter): Calculation | undefined;
}

export type AccumulatorContext = {
  readonly inputType: FieldType;
  /** Rows come with the newest first, and go so. */
  readonly descending: boolean;
  readonly random: () => number;
  /**
   * Whether the row that a point was picked from is answered: its own time, or other columns of it.
   */
  readonly needsRow: boolean;
  /** Set where `first` and `last` have to know how series were merged. */
  readonly merge?: SeriesMerge | undefined;
  /** Counts memory that the accumulator takes (or, negative, gives back) as the query's. */
  readonly hold: (bytes: number) => void;
};

/** A new accumulator for a group. */
export function createAccumulator(spec: ReducerSpec, context: AccumulatorContext): Accumulator {
  const { inputType } = context;
  switch (spec.kind) {
    case 'count':
      return new CountAccumulator();
    case 'sum':
      return new SumAccumulator(inputType);
    case 'mean':
      return new MeanAccumulator(inputType);
    case 'spread':
      return new SpreadAccumulator(inputType);
    case 'min':
    case 'max':
      return new ExtremeAccumulator(spec.kind);
    case 'first':
    case 'last':
      return context.merge === undefined
        ? new FirstLastAccumulator(spec.kind)
        : new MergedFirstLast(spec.kind, context.merge, context);
    case 'median':
      return new MedianAccumulator(context);
    case 'mode':
      return new ModeAccumulator(context);
    case 'stddev':
      return new StddevAccumulator(context);
    case 'distinct':
      return new DistinctAccumulator(context);
    case 'count-distinct':
      return new CountDistinctAccumulator(context);
    case 'percentile':
      return new PercentileAccumulator(spec.percent, context);
    case 'sample':
      return new SampleAccumulator(spec.size, context);
    case 'top':
    case 'bottom':
      return new RankingAccumulator(spec, context);
    default:
      return unreachable(spec);
  }
}
