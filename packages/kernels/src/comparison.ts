// Comparisons with a constant, translated into the operations of the kernels.
import { planComparison } from '@tidemark/core';
import type { ComparisonOperator, FieldType, FieldValue } from '@tidemark/core';

import { COMPARISONS } from './abi.gen.ts';

/** Compares each value of a column with a constant. */
export type ColumnCondition = {
  readonly operator: ComparisonOperator;
  readonly value: FieldValue;
};

/**
 * The operation of a kernel on each value: keep all, keep none, or compare with `bound`, which has
 * the type of the column. With `flip` it keeps the rows for which the comparison is false.
 */
export type KernelComparison =
  | { readonly kind: 'all' | 'none' }
  | {
      readonly kind: 'compare';
      readonly operation: (typeof COMPARISONS)[keyof typeof COMPARISONS];
      readonly flip: boolean;
      readonly bound: number | bigint | boolean;
    };

const OPERATIONS = {
  '=': { operation: COMPARISONS.equal, flip: false },
  '!=': { operation: COMPARISONS.equal, flip: true },
  '<': { operation: COMPARISONS.less, flip: false },
  '>=': { operation: COMPARISONS.less, flip: true },
  '<=': { operation: COMPARISONS.atMost, flip: false },
  '>': { operation: COMPARISONS.atMost, flip: true },
} as const;

/** Translates a comparison for a column of `type`. */
export function kernelComparison(
  type: Exclude<FieldType, 'string'>,
  { operator, value }: ColumnCondition,
): KernelComparison {
  const plan = planComparison(type, operator, value);
  if (plan.kind !== 'compare') return plan;
  const { bound } = plan;
  if (typeof bound === 'string') return { kind: 'none' };
  return { kind: 'compare', ...OPERATIONS[plan.operator], bound };
}
