// The traversals of predicates.
import type { Predicate } from './series-source.ts';

type Junction = Extract<Predicate, { readonly kind: 'and' | 'or' }>;

function isJunction(where: Predicate): where is Junction {
  return where.kind === 'and' || where.kind === 'or';
}

function isOfField({ kind }: Predicate): boolean {
  return kind === 'field' || kind === 'field-regex' || kind === 'calculated';
}

/** Whether the test holds for the predicate or anything below it. */
export function someOf(where: Predicate, test: (part: Predicate) => boolean): boolean {
  if (test(where)) return true;
  return isJunction(where) && (someOf(where.left, test) || someOf(where.right, test));
}

/** Replaces comparisons. Constants are left only if the whole predicate is one. */
export function rewritePredicate(
  where: Predicate,
  change: (comparison: Predicate) => Predicate,
): Predicate {
  if (!isJunction(where)) return change(where);
  const left = rewritePredicate(where.left, change);
  const right = rewritePredicate(where.right, change);
  const decisive = where.kind === 'or';
  if (left.kind === 'constant') return left.value === decisive ? left : right;
  if (right.kind === 'constant') return right.value === decisive ? right : left;
  return { kind: where.kind, left, right };
}

/** Whether a predicate reads a field. */
export function readsFields(where: Predicate): boolean {
  return someOf(where, isOfField);
}

/** The part of a predicate on tags, which concerns only series: conditions on fields may hold. */
export function onlyTags(where: Predicate | undefined): Predicate | undefined {
  if (where === undefined) return undefined;
  const ofTags = rewritePredicate(where, (part) => (isOfField(part) ? TRUE : part));
  return ofTags === TRUE ? undefined : ofTags;
}

const TRUE: Predicate = { kind: 'constant', value: true };
