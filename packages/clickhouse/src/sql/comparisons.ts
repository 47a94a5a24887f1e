// SQL comparisons of stored values with constants.
import { planComparison } from '@tidemark/core';
import type { ComparisonOperator, FieldType, FieldValue } from '@tidemark/core';

import { sqlFloat64, sqlInt64, sqlText } from './literals.ts';

/** A comparison over the columns `f`, `i` and `s` of a row with a value of the type. */
export function comparison(
  type: FieldType,
  operator: ComparisonOperator,
  value: FieldValue,
): string {
  const plan = planComparison(type, operator, value);
  if (plan.kind !== 'compare') return plan.kind === 'all' ? '1' : '0';
  const { bound } = plan;
  switch (typeof bound) {
    case 'string':
      return `s ${plan.operator} ${sqlText(bound)}`;
    case 'boolean':
      return `i ${plan.operator} ${bound ? 1 : 0}`;
    case 'number':
      return `f ${plan.operator} ${sqlFloat64(bound)}`;
    case 'bigint':
      return type === 'unsigned'
        ? `toUInt64(i) ${plan.operator} toUInt64(${bound})`
        : `i ${plan.operator} ${sqlInt64(bound)}`;
  }
}
