// Transformations: functions that turn the points of one group into other points, one after
// another, with state between them (difference, moving_average, the technical analysis functions,
// integral, holt_winters). They work on batches of one column, so that their loops touch typed
// arrays only. The operator above feeds them the merged points of one group in the order of the
// query and creates a new one for each group. They emit points in that order too. Analysis decides
// which arguments are valid, and with which text they are refused.
import type { Column, FieldType } from '@tidemark/core';
import type { Calculation } from './steps.ts';

/**
 * Consecutive points of one group: `times` and `values` have the same length. Nulls in a pushed
 * batch are skipped (an empty window is not a point); an emitted batch has none, but floats in it
 * may be NaN, which prints as null.
 */
export type PointBatch = { readonly times: BigInt64Array; readonly values: Column };

/** A running transformation of one group. Not reusable after `finish`. */
export interface Transformation {
  /** Type of the column of every batch that is emitted. */
  readonly type: FieldType;
  /**
   * Takes the next points and returns those that are now known, possibly none. The batch is not
   * kept or changed.
   */
  push(batch: PointBatch): PointBatch;
  /**
   * The same in parts, for transformations with very many results for a few points. Absent for
   * others.
   */
  pushInParts?(batch: PointBatch): Iterable<PointBatch>;
  /**
   * Called after the last points: returns those that were held back. Absent if there never are any.
   */
  finish?(): Calculation<PointBatch>;
}

/** The context of a transformation, besides its own arguments. */
export type TransformationContext = {
  /** Type of the pushed columns: float, integer or unsigned; `elapsed` takes any. */
  readonly inputType: FieldType;
  /** Points come in descending time order. */
  readonly descending: boolean;
  /** Counts memory of the transformation as the query's; throws when that is too much. */
  readonly hold: (bytes: number) => void;
};

/** How an exponential average is started: see `transformations/exponential-average.ts`. */
export type WarmUp = 'exponential' | 'simple';

/** A window of time, `start` included, `end` excluded. */
export type TimeWindow = { readonly start: bigint; readonly end: bigint };

/** A number of points; of their results, the first `hold` are not emitted, -1 is the default. */
export type Period = { readonly period: number; readonly hold: number };

/** The arguments of most functions of technical analysis. */
export type Technical = Period & { readonly warmUp: WarmUp };

/** A transformation with checked arguments. */
export type TransformationSpec =
  | {
      readonly kind: 'derivative' | 'non_negative_derivative' | 'elapsed';
      readonly unitNanos: bigint;
    }
  | { readonly kind: 'difference' | 'non_negative_difference' | 'cumulative_sum' }
  | { readonly kind: 'moving_average'; readonly points: number }
  | (Technical & {
      readonly kind:
        | 'exponential_moving_average'
        | 'double_exponential_moving_average'
        | 'triple_exponential_moving_average'
        | 'relative_strength_index'
        | 'triple_exponential_derivative';
    })
  | (Period & { readonly kind: 'kaufmans_efficiency_ratio' | 'kaufmans_adaptive_moving_average' })
  | (Period & {
      readonly kind: 'chande_momentum_oscillator';
      readonly warmUp: WarmUp | 'none';
    })
  | {
      readonly kind: 'holt_winters' | 'holt_winters_with_fit';
      /** Number of points to predict, at least 1. */
      readonly predictions: number;
      /** Length of a season in points; 0 and 1 mean that there is none. */
      readonly seasonLength: number;
      readonly intervalNanos: bigint;
    }
  | {
      /**
       * The area under the curve; emits one point per window that has one, stamped with the
       * window's start.
       */
      readonly kind: 'integral';
      readonly unitNanos: bigint;
      /**
       * The window of a time, with GROUP BY time: areas are then split at the borders of windows.
       */
      readonly windowOf: ((time: bigint) => TimeWindow) | undefined;
      /** The stamp of the one result without windows. */
      readonly wholeStamp: bigint;
    };
