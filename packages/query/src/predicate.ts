// The traversals of predicates.
import type { Predicate } from './series-source.ts';

type Junction = Extract<Predicate, { readonly kind: 'and' | 'or' }>;

function isJunction(where: Predicate): where is Junction {
  return where.kind === 'and' || where.kind === 'or';
}

function isOfField({ kind }: Predicate): boolean {
  return kind === 'field' || kind === 'field-regex';
}

/** Whether the test holds for the predicate or anything below it. */
export function someOf(where: Predicate, test: (part: Predicate) => boolean): boolean {
  if (test(where)) return true;
  return isJunction(where) && (someOf(where.left, test) || someOf(where.right, test));
}

/** Rebuilds a predicate bottom up. */
export function rewritePredicate(
  where: Predicate,
  change: (part: Predicate) => Predicate,
): Predicate {
  if (!isJunction(where)) return change(where);
  const left = rewritePredicate(where.left, change);
  return change({ kind: where.kind, left, right: rewritePredicate(where.right, change) });
}

/** Whether a predicate reads a field. */
export function readsFields(where: Predicate): boolean {
  return someOf(where, isOfField);
}

/** The part of a predicate on tags, which concerns only series: conditions on fields may hold. */
export function onlyTags(where: Predicate | undefined): Predicate | undefined {
  return (
    where &&
    rewritePredicate(where, (part) => (isOfField(part) ? { kind: 'constant', value: true } : part))
  );
}
