// The columns of a SELECT as plain data: inputs, calls over them, and result columns.
import type { FieldType, FieldValue } from '@tidemark/core';
import type { BinaryOperator, Call } from '@tidemark/influxql';

import type { FaultDetails } from '../compat-messages.ts';
import type { ReducerSpec } from '../functions/reducers.ts';
import type { TransformationSpec } from '../functions/transformation.ts';

/**
 * A column that sources deliver. Tags are string columns, null where the series lacks the tag. So
 * are labels of series (`series-label.ts`), null in rows of subqueries.
 */
export type RowInput =
  | { readonly kind: 'series'; readonly name: '' }
  | {
      readonly kind: 'field';
      readonly name: string;
      readonly type: FieldType;
      readonly groupTag?: GroupTag | undefined;
    }
  | { readonly kind: 'tag'; readonly name: string; readonly groupTag?: GroupTag | undefined };

/**
 * The tags of a subquery's groups that stand in for a text column that it does not have. By default
 * those of its own GROUP BY, which are all that a query sees. `passed-on`: also those by which
 * outer queries group, which conditions see (recorded). `asked-for`: the subquery is grouped by the
 * tag for this input.
 */
export type GroupTag = 'passed-on' | 'asked-for';

/** An expression over numbered columns. `type` is `undefined` where all values are null. */
export type ValueExpression =
  | {
      readonly kind: 'column';
      readonly index: number;
      readonly type: FieldType | undefined;
      /** Another type that a cast has declared for its values (`ResolvedName`). */
      readonly declared?: FieldType | undefined;
    }
  | {
      readonly kind: 'constant';
      readonly value: FieldValue;
      readonly type: FieldType;
    }
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

/** The expressions directly below one. */
export function operandsOf(expression: ValueExpression): readonly ValueExpression[] {
  switch (expression.kind) {
    case 'binary':
      return [expression.left, expression.right];
    case 'regex':
      return [expression.operand];
    case 'math':
      return expression.arguments;
    case 'column':
    case 'constant':
    case 'null':
      return [];
  }
}

const nodeCounts = new WeakMap<ValueExpression, number>();

/** Size of an expression, counted once. */
export function nodeCount(expression: ValueExpression): number {
  let count = nodeCounts.get(expression);
  if (count === undefined) {
    count = operandsOf(expression).reduce((sum, operand) => sum + nodeCount(operand), 1);
    nodeCounts.set(expression, count);
  }
  return count;
}

type ColumnExpression = Extract<ValueExpression, { readonly kind: 'column' }>;

/** The expression with others in place of its columns. */
export function replaceColumns(
  expression: ValueExpression,
  replace: (column: ColumnExpression) => ValueExpression,
): ValueExpression {
  switch (expression.kind) {
    case 'column':
      return replace(expression);
    case 'binary': {
      const left = replaceColumns(expression.left, replace);
      return { ...expression, left, right: replaceColumns(expression.right, replace) };
    }
    case 'regex':
      return { ...expression, operand: replaceColumns(expression.operand, replace) };
    case 'math': {
      const given = expression.arguments.map((each) => replaceColumns(each, replace));
      return { ...expression, arguments: given };
    }
    case 'constant':
    case 'null':
      return expression;
  }
}

/** The fault of a call, and its place. */
export type CallFault = { readonly text: string; readonly place: FaultDetails };

/** One function call of the SELECT list: a stream of values per group. */
export type AggregateCall = {
  /** As written; equal ones are one call. */
  readonly expression: Call;
  /** The input that it reads; `undefined` for an unknown field, which has no values. */
  readonly input: number | undefined;
  readonly inputType: FieldType;
  /** Absent for a transformation of raw points. */
  readonly reducer: ReducerSpec | undefined;
  /** From the inside to the outside. */
  readonly transformations: readonly TransformationSpec[];
  /** Type of the results. */
  readonly type: FieldType;
  /** The field is unknown, but the type of the result is not: fill() can fill in values. */
  readonly hasFixedType: boolean;
  /**
   * The field has a type that the function does not take. Thrown when the call is run, which may
   * never happen.
   */
  readonly fault: CallFault | undefined;
  /**
   * Windows that are read before the time range so that the first one has something to compare
   * with.
   */
  readonly prefetchWindows: number;
};

export type OutputColumn = {
  readonly name: string;
  /** Raw: over the inputs. Otherwise over the calls, then the auxiliary inputs. */
  readonly expression: ValueExpression;
  readonly type: FieldType;
  /** The column is a tag of its source; a query around this one sees it as a tag. */
  readonly isTag: boolean;
  /** INTO writes it as a tag: a tag in a call of `top` or `bottom`. */
  readonly isIntoTag: boolean;
};

/** All columns of a SELECT. */
export type BuiltColumns = {
  readonly inputs: readonly RowInput[];
  readonly calls: readonly AggregateCall[];
  readonly auxiliaryInputs: readonly number[];
  readonly outputs: readonly OutputColumn[];
};
