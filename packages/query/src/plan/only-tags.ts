// The part of a condition that concerns only series.
import type { Predicate } from '../series-source.ts';

/** The part of a predicate on tags, if every condition on fields may hold. */
export function onlyTags(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'field':
    case 'field-regex':
      return { kind: 'constant', value: true };
    case 'and':
    case 'or':
      return {
        kind: predicate.kind,
        left: onlyTags(predicate.left),
        right: onlyTags(predicate.right),
      };
    default:
      return predicate;
  }
}

/** Whether a predicate reads no field. */
export function isOfTags(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'field':
    case 'field-regex':
      return false;
    case 'and':
    case 'or':
      return isOfTags(predicate.left) && isOfTags(predicate.right);
    default:
      return true;
  }
}
