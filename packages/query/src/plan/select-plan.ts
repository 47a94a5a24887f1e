// The plan of a SELECT: plain data that says what is read, how it is reduced and what is answered.
// Made by
// `plan-select.ts`, run by `operators/run-select.ts`, printed by EXPLAIN.
import type { FieldType, FieldValue, TimeRange } from '@tidemark/core';
import type { BinaryOperator, Fill } from '@tidemark/influxql';

import type { Interval } from '../analyse/dimensions.ts';
import type { Place } from '../compat-messages.ts';
import type { Zone } from '../analyse/zone.ts';
import type { TransformationSpec } from '../functions/transformation.ts';
import type { MeasurementRef, Predicate } from '../series-source.ts';

/** A column that sources deliver. Tags are string columns, null where the series lacks the tag. */
export type RowInput =
  | { readonly kind: 'field'; readonly name: string; readonly type: FieldType }
  | {
      readonly kind: 'tag';
      readonly name: string;
      /** The query can not name it, but subqueries are asked for it. */
      readonly isHidden?: boolean | undefined;
    };

/** An expression over numbered columns. `type` is undefined where only nulls can come out. */
export type ValueExpression =
  | { readonly kind: 'column'; readonly index: number; readonly type: FieldType | undefined }
  | { readonly kind: 'constant'; readonly value: FieldValue; readonly type: FieldType }
  | { readonly kind: 'null'; readonly type: undefined }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: ValueExpression;
      readonly right: ValueExpression;
      readonly type: FieldType | undefined;
    }
  | {
      readonly kind: 'regex';
      readonly operator: '=~' | '!~';
      readonly operand: ValueExpression;
      readonly pattern: string;
      readonly type: 'boolean';
    }
  | {
      readonly kind: 'math';
      readonly name: string;
      readonly arguments: readonly ValueExpression[];
      readonly type: FieldType | undefined;
    };

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

/** What is wrong with a call, and where. */
export type LeafFault = { readonly text: string; readonly place: Place };

/** One function call of the SELECT list: a stream of values per group. */
export type Leaf = {
  /** Printed call; equal calls share a leaf. */
  readonly key: string;
  /** The input that it reads; undefined when there is no such field, which gives nothing. */
  readonly input: number | undefined;
  readonly inputType: FieldType;
  /** Absent for a transformation of raw points. */
  readonly reducer: ReducerSpec | undefined;
  /** From the inside to the outside. */
  readonly transformations: readonly TransformationSpec[];
  /** Type of what comes out. */
  readonly type: FieldType;
  /** The field is unknown, but the type of the result is not: fill() has something to fill in. */
  readonly hasFixedType: boolean;
  /** The field does not suit the function. Raised when the leaf is run; nobody may ask for it. */
  readonly fault: LeafFault | undefined;
  /**
   * Windows that are read beyond the time range so that the first one has something to compare
   * with.
   */
  readonly prefetchWindows: number;
};

/** Where rows come from. */
export type SourcePlan = MeasurementPlan | SubqueryPlan;

export type MeasurementPlan = {
  readonly kind: 'measurement';
  readonly measurement: MeasurementRef;
  /** All keys of tags that its series may have. */
  readonly tagKeys: ReadonlySet<string>;
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
  | { readonly kind: 'missing' };

/** The part of WHERE that is not about time. */
export type ConditionPlan = {
  /** What a source of measurements can decide; undefined when there is nothing to push. */
  readonly pushed: Predicate | undefined;
  /** What is decided here for rows of measurements, over the inputs. */
  readonly residual: ValueExpression | undefined;
  /** The whole condition, for rows of subqueries. */
  readonly whole: ValueExpression | undefined;
};

export type OutputColumn = {
  readonly name: string;
  /** Raw: over the inputs. Otherwise over the leaves, then the auxiliary inputs. */
  readonly expression: ValueExpression;
  readonly type: FieldType;
  /** The column is a tag of its source; a query around this one sees it as a tag. */
  readonly isTag: boolean;
  /** INTO writes it as a tag: a tag that `top` or `bottom` tells apart. */
  readonly isIntoTag: boolean;
};

export type SelectPlan = {
  readonly sources: readonly SourcePlan[];
  readonly inputs: readonly RowInput[];
  /** The first so many inputs are selected; the others are only read for the condition. */
  readonly selectedInputCount: number;
  readonly condition: ConditionPlan;
  /** Empty for a raw query. */
  readonly leaves: readonly Leaf[];
  /** Inputs that travel along with the point of the only selector. */
  readonly auxiliaryInputs: readonly number[];
  readonly outputs: readonly OutputColumn[];
  readonly timeColumnName: string;
  /** Tags of the result series, sorted, without duplicates. */
  readonly dimensions: readonly string[];
  readonly range: TimeRange;
  /** In a subquery, what the outermost query may read: nothing beyond it is read ahead. */
  readonly readableRange: TimeRange | undefined;
  readonly interval: Interval | undefined;
  readonly zone: Zone | undefined;
  readonly fill: Fill;
  readonly descending: boolean;
  /** 0 is unlimited. */
  readonly limit: number;
  readonly offset: number;
  readonly seriesLimit: number;
  readonly seriesOffset: number;
};
