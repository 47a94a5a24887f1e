// Parameters of a statement shape: the literals in which statements of one shape differ. Nothing
// but a value depends on them: operands that `time` is compared with, and strings and regular
// expressions that a name is compared with. Code that plans a statement must not look at their
// values.
import { isComparison, MAX_INT64 } from '@tidemark/core';
import type { Span } from '@tidemark/core';

import type { Binary, Expression, Literal, Slot, Slots, Source } from './ast.ts';
import { parseDuration } from './duration.ts';
import { isTime } from './is-time.ts';

/** What of a statement may have slots. */
type Conditional = {
  readonly sources: readonly Source[];
  readonly condition?: Expression | undefined;
};

/** The statement with numbers at the literals that may have a slot; `slotOf` chooses them. */
export function withSlots<S extends Conditional>(
  statement: S,
  slotOf: (literal: Literal) => Slot | undefined,
): S {
  return changeConditions(statement, (condition) =>
    mark(condition, (node) => {
      if (!hasSlot(node)) return node;
      const slot = slotOf(node);
      return slot === undefined ? node : { ...node, slot };
    }),
  );
}

/** The statement with other literals in its slots. */
export function fillStatement<S extends Conditional>(statement: S, slots: Slots): S {
  return changeConditions(statement, (condition) => fillSlots(condition, slots));
}

/** The condition, or a part of it, with other literals in its slots. */
export function fillSlots(node: Expression, slots: Slots): Expression {
  switch (node.kind) {
    case 'binary': {
      const left = fillSlots(node.left, slots);
      const right = fillSlots(node.right, slots);
      return left === node.left && right === node.right ? node : { ...node, left, right };
    }
    case 'paren': {
      const expression = fillSlots(node.expression, slots);
      return expression === node.expression ? node : { ...node, expression };
    }
    default:
      return hasSlot(node) && node.slot !== undefined ? (slots[node.slot] ?? node) : node;
  }
}

type Slotted = Extract<Literal, { readonly slot?: Slot | undefined }>;

/** Whether a literal is of a kind that may have a slot. */
function hasSlot(node: Expression): node is Slotted {
  switch (node.kind) {
    case 'string':
    case 'regex':
    case 'integer':
    case 'duration':
      return true;
    default:
      return false;
  }
}

/** The literal that a cut of a text is, in a slot; `undefined` when the parser has to see it. */
export function literalOf(cut: string, slot: Slot, span: Span): Literal | undefined {
  if (cut.startsWith("'")) return { kind: 'string', value: cut.slice(1, -1), slot, span };
  if (cut.startsWith('/')) return { kind: 'regex', pattern: cut.slice(1, -1), slot, span };
  if (/^\d+$/.test(cut)) {
    const value = BigInt(cut);
    return value <= MAX_INT64 ? { kind: 'integer', value, slot, span } : undefined;
  }
  const parsed = parseDuration(cut);
  return parsed.ok ? { kind: 'duration', nanos: parsed.nanos, slot, span } : undefined;
}

/** Changes the conditions of a statement and of its subqueries. */
function changeConditions<S extends Conditional>(
  statement: S,
  change: (condition: Expression) => Expression,
): S {
  const { condition } = statement;
  const sources = statement.sources.some(({ kind }) => kind === 'subquery')
    ? statement.sources.map((source) =>
        source.kind === 'subquery'
          ? { ...source, statement: changeConditions(source.statement, change) }
          : source,
      )
    : statement.sources;
  return { ...statement, sources, condition: condition && change(condition) };
}

type Change = (literal: Expression) => Expression;

/** The condition with other literals where slots may be. */
function mark(node: Expression, change: Change): Expression {
  switch (node.kind) {
    case 'paren': {
      const expression = mark(node.expression, change);
      return expression === node.expression ? node : { ...node, expression };
    }
    case 'binary': {
      const { left, right } = markSides(node, change);
      return left === node.left && right === node.right ? node : { ...node, left, right };
    }
    default:
      return node;
  }
}

function markSides(node: Binary, change: Change): Pick<Binary, 'left' | 'right'> {
  const { left, right, operator } = node;
  if (operator === 'AND' || operator === 'OR') {
    return { left: mark(left, change), right: mark(right, change) };
  }
  if (isTime(left)) return { left, right: markTimes(right, change) };
  if (isTime(right)) return { left: markTimes(left, change), right };
  if (operator === '=~' || operator === '!~') {
    return left.kind === 'reference' && right.kind === 'regex'
      ? { left, right: change(right) }
      : node;
  }
  if (!isComparison(operator)) return node;
  if (left.kind === 'reference' && right.kind === 'string') return { left, right: change(right) };
  if (right.kind === 'reference' && left.kind === 'string') return { left: change(left), right };
  return node;
}

/** Sums and differences of literals. */
function markTimes(node: Expression, change: Change): Expression {
  switch (node.kind) {
    case 'paren': {
      const expression = markTimes(node.expression, change);
      return expression === node.expression ? node : { ...node, expression };
    }
    case 'binary': {
      const left = markTimes(node.left, change);
      const right = markTimes(node.right, change);
      return left === node.left && right === node.right ? node : { ...node, left, right };
    }
    default:
      return change(node);
  }
}
