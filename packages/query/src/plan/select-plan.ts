// The plan of a SELECT: plain data that describes its reads, reductions and results.
// `plan-select.ts` creates it, `physical-plan.ts` converts it, and EXPLAIN prints it.
import type { TimeRange } from '@tidemark/core';
import type { Fill } from '@tidemark/influxql';

import type { AggregateCall, OutputColumn, RowInput, ValueExpression } from '../analyse/columns.ts';
import type { RowLimits } from '../analyse/bound.ts';
import type { Interval } from '../analyse/dimensions.ts';
import type { Zone } from '../analyse/zone.ts';
import type { MeasurementRef, Predicate, ShardSpan } from '../series-source.ts';

/** A source of rows. */
export type SourcePlan = MeasurementPlan | SubqueryPlan;

export type MeasurementPlan = {
  readonly kind: 'measurement';
  readonly measurement: MeasurementRef;
  /** All keys of tags that its series may have. */
  readonly tagKeys: ReadonlySet<string>;
  /** Those of its policy that overlap the range. */
  readonly shards: readonly ShardSpan[];
};

export type SubqueryPlan = {
  readonly kind: 'subquery';
  readonly plan: SelectPlan;
  /**
   * For each input of the outer plan: the output column or the dimension of the inner plan that
   * holds it.
   */
  readonly inputs: readonly SubqueryInput[];
};

export type SubqueryInput =
  | { readonly kind: 'column'; readonly index: number }
  | { readonly kind: 'dimension'; readonly index: number }
  | { readonly kind: 'missing' }
  /** A tag that the row does not have, as conditions see it. */
  | { readonly kind: 'empty' };

/** The part of WHERE that is not about time. */
export type ConditionPlan = {
  /** The condition that a source of measurements can apply; `undefined` if there is none. */
  readonly pushed: Predicate | undefined;
  /** The condition on rows of measurements that is evaluated here, over the inputs. */
  readonly residual: ValueExpression | undefined;
  /** The whole condition, for rows of subqueries. */
  readonly whole: ValueExpression | undefined;
};

export type SelectPlan = RowLimits & {
  readonly sources: readonly SourcePlan[];
  readonly inputs: readonly RowInput[];
  /**
   * The input with the series of each row, if the choice among rows of one time depends on it
   * (`functions/merge-heads.ts`).
   */
  readonly seriesInput?: number | undefined;
  /**
   * The first inputs, up to this number, are selected; the others are only read for the condition.
   */
  readonly selectedInputCount: number;
  readonly condition: ConditionPlan;
  /** Empty for a raw query. */
  readonly calls: readonly AggregateCall[];
  /** Inputs that travel along with the point of the only selector. */
  readonly auxiliaryInputs: readonly number[];
  readonly outputs: readonly OutputColumn[];
  readonly timeColumnName: string;
  /** Tags of the result series, sorted, without duplicates. */
  readonly dimensions: readonly string[];
  readonly range: TimeRange;
  /**
   * For a subquery, the range that the outermost query may read: nothing outside it is read ahead.
   */
  readonly readableRange: TimeRange | undefined;
  readonly interval: Interval | undefined;
  readonly zone: Zone | undefined;
  readonly fill: Fill;
  readonly descending: boolean;
};
