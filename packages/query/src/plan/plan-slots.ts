// The parameters of a cached plan: strings and regular expressions of its condition whose values
// differ from one execution to the next. Nothing else in a plan depends on them.
import { assert } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';

import type { ValueExpression } from '../analyse/columns.ts';
import type { Predicate } from '../series-source.ts';
import type { ConditionPlan, SelectPlan } from './select-plan.ts';

/** A condition whose slots are numbered as it has them; `slots` are those of its form. */
export type NumberedCondition = {
  readonly condition: ConditionPlan;
  readonly slots: readonly number[];
};

/** Numbers the slots of a condition. */
export function numberSlots(condition: ConditionPlan): NumberedCondition {
  const slots: number[] = [];
  const numbered = changeSlots(condition, (slot, value) => {
    return { value, slot: slots.push(slot) - 1 };
  });
  return { condition: numbered, slots };
}

/** A kept plan with this range and these values, and without slots. */
export function fillPlan(
  plan: SelectPlan,
  range: TimeRange,
  values: readonly string[],
): SelectPlan {
  if (values.length === 0) return { ...plan, range };
  const condition = changeSlots(plan.condition, (slot) => {
    const value = values[slot];
    assert(value !== undefined, 'a plan is executed with a value for each slot');
    return { value };
  });
  return { ...plan, range, condition };
}

/** What is put in the place of a slot and its value. */
type Change = (slot: number, value: string) => { readonly value: string; readonly slot?: number };

function changeSlots({ pushed, residual, whole }: ConditionPlan, change: Change): ConditionPlan {
  return {
    pushed: pushed && inPredicate(pushed, change),
    residual: residual && inExpression(residual, change),
    whole: whole && inExpression(whole, change),
  };
}

function inPredicate(node: Predicate, change: Change): Predicate {
  switch (node.kind) {
    case 'and':
    case 'or':
      return {
        kind: node.kind,
        left: inPredicate(node.left, change),
        right: inPredicate(node.right, change),
      };
    case 'tag': {
      const { kind, key, operator, value, slot } = node;
      return slot === undefined ? node : { kind, key, operator, ...change(slot, value) };
    }
    case 'field': {
      const { kind, field, operator, value, slot } = node;
      return slot === undefined || typeof value !== 'string'
        ? node
        : { kind, field, operator, ...change(slot, value) };
    }
    case 'tag-regex': {
      const { kind, key, operator, pattern, slot } = node;
      return slot === undefined
        ? node
        : { kind, key, operator, ...inPattern(slot, pattern, change) };
    }
    case 'field-regex': {
      const { kind, field, operator, pattern, slot } = node;
      return slot === undefined
        ? node
        : { kind, field, operator, ...inPattern(slot, pattern, change) };
    }
    default:
      return node;
  }
}

type SlottedPattern = { readonly pattern: string; readonly slot?: number };

function inPattern(slot: number, pattern: string, change: Change): SlottedPattern {
  const { value, ...more } = change(slot, pattern);
  return { pattern: value, ...more };
}

function inExpression(node: ValueExpression, change: Change): ValueExpression {
  switch (node.kind) {
    case 'constant': {
      const { kind, value, type, slot } = node;
      return slot === undefined || typeof value !== 'string'
        ? node
        : { kind, type, ...change(slot, value) };
    }
    case 'binary':
      return {
        ...node,
        left: inExpression(node.left, change),
        right: inExpression(node.right, change),
      };
    case 'regex': {
      const { kind, operator, type, pattern, slot } = node;
      const operand = inExpression(node.operand, change);
      return slot === undefined
        ? { ...node, operand }
        : { kind, operator, type, operand, ...inPattern(slot, pattern, change) };
    }
    case 'math':
      return { ...node, arguments: node.arguments.map((each) => inExpression(each, change)) };
    default:
      return node;
  }
}
