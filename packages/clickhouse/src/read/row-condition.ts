// The part of a condition that has to be asked of every row.
import type { FieldValue } from '@tidemark/core';
import { textMatcher } from '@tidemark/query';
import type { Predicate } from '@tidemark/query';

/** Names of the fields that a condition reads. */
export function conditionFields(predicate: Predicate | undefined): readonly string[] {
  switch (predicate?.kind) {
    case 'and':
    case 'or':
      return [
        ...new Set([...conditionFields(predicate.left), ...conditionFields(predicate.right)]),
      ];
    case 'field':
    case 'field-regex':
      return [predicate.field];
    default:
      return [];
  }
}

/** What is left for the rows of a series; `constant` when its tags decide. */
export function residualOf(predicate: Predicate, tags: ReadonlyMap<string, string>): Predicate {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const left = residualOf(predicate.left, tags);
      const right = residualOf(predicate.right, tags);
      // What decides alone: false for `and`, true for `or`; the other one says nothing.
      const deciding = predicate.kind === 'or';
      if (left.kind === 'constant') return left.value === deciding ? left : right;
      if (right.kind === 'constant') return right.value === deciding ? right : left;
      return { kind: predicate.kind, left, right };
    }
    case 'tag': {
      const isEqual = (tags.get(predicate.key) ?? '') === predicate.value;
      return { kind: 'constant', value: isEqual === (predicate.operator === '=') };
    }
    case 'tag-regex': {
      const isMatch = textMatcher(predicate.pattern)(tags.get(predicate.key) ?? '');
      return { kind: 'constant', value: isMatch === (predicate.operator === '=~') };
    }
    default:
      return predicate;
  }
}

/** Whether a row meets what is left of a condition. `valueOf` gives a field as it is stored. */
export function rowHolds(
  predicate: Predicate,
  valueOf: (field: string) => FieldValue | undefined,
): boolean {
  switch (predicate.kind) {
    case 'and':
      return rowHolds(predicate.left, valueOf) && rowHolds(predicate.right, valueOf);
    case 'or':
      return rowHolds(predicate.left, valueOf) || rowHolds(predicate.right, valueOf);
    case 'constant':
      return predicate.value;
    case 'field': {
      const value = valueOf(predicate.field);
      return value !== undefined && compares(value, predicate.operator, predicate.value);
    }
    case 'field-regex': {
      const value = valueOf(predicate.field);
      if (typeof value !== 'string') return false;
      return textMatcher(predicate.pattern)(value) === (predicate.operator === '=~');
    }
    default:
      return false;
  }
}

function isNumber(value: FieldValue): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function compares(a: FieldValue, operator: string, b: FieldValue): boolean {
  if (!(isNumber(a) && isNumber(b)) && typeof a !== typeof b) return false;
  switch (operator) {
    case '=':
      // oxlint-disable-next-line eqeqeq -- a bigint and a number are compared by value
      return a == b;
    case '!=':
      // oxlint-disable-next-line eqeqeq -- a bigint and a number are compared by value
      return a != b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}
