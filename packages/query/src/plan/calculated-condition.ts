// Conditions that no predicate of another kind expresses (`v * 2 > w`, casts, functions) as one
// that the source calculates from its columns, so that neither rows nor their other inputs are read
// here.
import { isSubquery } from '@tidemark/influxql';

import { nodeCount, replaceColumns } from '../analyse/columns.ts';
import type { RowInput, ValueExpression } from '../analyse/columns.ts';
import { CALCULATED_NODES } from '../limits.ts';
import type { CalculatedPredicate, FieldRef, Predicate } from '../series-source.ts';
import type { SelectPlan } from './select-plan.ts';

/** The plan without a residual condition, for a source that calculates conditions. */
export function withCalculatedCondition(plan: SelectPlan): SelectPlan {
  const { condition, inputs } = plan;
  const { pushed, residual } = condition;
  if (residual === undefined || nodeCount(residual) > CALCULATED_NODES) return plan;
  if (plan.sources.some(isSubquery)) return plan;
  const calculated = predicateOf(residual, inputs);
  const whole: Predicate =
    pushed === undefined ? calculated : { kind: 'and', left: pushed, right: calculated };
  return withSourceCondition(plan, whole);
}

/** The plan with a condition that the source applies: no inputs are read for it. */
export function withSourceCondition(
  plan: SelectPlan,
  condition: Predicate | undefined,
): SelectPlan {
  const { inputs, seriesInput, selectedInputCount } = plan;
  const selected = inputs.slice(0, selectedInputCount);
  return {
    ...plan,
    condition: { pushed: condition, residual: undefined, whole: undefined },
    inputs: seriesInput === undefined ? selected : [...selected, inputs[seriesInput]!],
    seriesInput: seriesInput === undefined ? undefined : selectedInputCount,
  };
}

function predicateOf(
  condition: ValueExpression,
  inputs: readonly RowInput[],
): CalculatedPredicate & { readonly expression: ValueExpression } {
  const fields: FieldRef[] = [];
  const tags: string[] = [];
  const numbers = new Map<number, number>();
  // Fields come first, tags behind all of them.
  for (const wanted of ['field', 'tag'] as const) {
    replaceColumns(condition, (column) => {
      const input = inputs[column.index]!;
      if (input.kind === wanted && !numbers.has(column.index)) {
        numbers.set(column.index, fields.length + tags.length);
        if (input.kind === 'field') fields.push({ name: input.name, type: input.type });
        else tags.push(input.name);
      }
      return column;
    });
  }
  const expression = replaceColumns(condition, (column) => ({
    ...column,
    index: numbers.get(column.index)!,
  }));
  return { kind: 'calculated', fields, tags, expression };
}

/** The condition as in a statement. */
export function calculatedText({ expression, fields, tags }: CalculatedPredicate): string {
  const names = [...fields.map(({ name }) => name), ...tags];
  const textOf = (node: ValueExpression): string => {
    switch (node.kind) {
      case 'column':
        return names[node.index] ?? 'null';
      case 'constant':
        return typeof node.value === 'string' ? `'${node.value}'` : String(node.value);
      case 'null':
        return 'null';
      case 'binary':
        return `(${textOf(node.left)} ${node.operator} ${textOf(node.right)})`;
      case 'regex':
        return `${textOf(node.operand)} ${node.operator} /${node.pattern}/`;
      case 'math':
        return `${node.name}(${node.arguments.map(textOf).join(', ')})`;
    }
  };
  return textOf(expression as ValueExpression);
}
