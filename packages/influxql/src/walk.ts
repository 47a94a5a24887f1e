// The traversals of trees: below an expression, and through the subqueries of a SELECT. Total: a
// new kind of node or source does not compile until it is decided here what is below it.
import { unreachable } from '@tidemark/core';

import type { Expression, Literal, MeasurementSource, SelectStatement } from './ast.ts';

/** Children in the order of the text. */
export function children(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'binary':
      return [expression.left, expression.right];
    case 'paren':
      return [expression.expression];
    case 'call':
      return expression.arguments;
    case 'reference':
    case 'distinct':
    case 'wildcard':
    case 'regex':
    case 'number':
    case 'integer':
    case 'unsigned':
    case 'string':
    case 'boolean':
    case 'duration':
      return [];
    default:
      return unreachable(expression);
  }
}

/** The same node with other children, as many. */
function withChildren(expression: Expression, changed: readonly Expression[]): Expression {
  const [first, second] = changed;
  switch (expression.kind) {
    case 'binary':
      return { ...expression, left: first!, right: second! };
    case 'paren':
      return { ...expression, expression: first! };
    case 'call':
      return { ...expression, arguments: changed };
    default:
      return expression;
  }
}

const LITERALS: ReadonlySet<Expression['kind']> = new Set([
  'number',
  'integer',
  'unsigned',
  'string',
  'boolean',
  'duration',
  'regex',
]);

export function isLiteral(node: Expression): node is Literal {
  return LITERALS.has(node.kind);
}

/** Calls `visit` on the expression and everything below it, parents first. */
export function walk(expression: Expression, visit: (node: Expression) => void): void {
  visit(expression);
  for (const child of children(expression)) walk(child, visit);
}

/** Whether the test holds for the expression or anything below it. */
export function some(expression: Expression, test: (node: Expression) => boolean): boolean {
  return test(expression) || children(expression).some((child) => some(child, test));
}

/** Rebuilds an expression bottom up; untouched nodes stay identical. */
export function rewrite(
  expression: Expression,
  change: (node: Expression) => Expression,
): Expression {
  const below = children(expression);
  const changed = changedOf(below, (child) => rewrite(child, change));
  return change(changed === below ? expression : withChildren(expression, changed));
}

/** The statement behind those of its subqueries, in the order of the text. */
export function selectsOf(statement: SelectStatement): readonly SelectStatement[] {
  const inner = subqueriesIn(statement.sources).flatMap(({ statement: own }) => selectsOf(own));
  return [...inner, statement];
}

/** What follows does not compile for a further kind of source until it is decided here. */
type SourceKind = { readonly kind: 'measurement' | 'subquery' };

/** Whether a source, of a statement or of a plan, is a subquery; all others are measurements. */
export function isSubquery<S extends SourceKind>(
  source: S,
): source is Extract<S, { readonly kind: 'subquery' }> {
  return source.kind === 'subquery';
}

/** The subqueries among sources, in their order. */
export function subqueriesIn<S extends SourceKind>(
  sources: readonly S[],
): readonly Extract<S, { readonly kind: 'subquery' }>[] {
  return sources.filter(isSubquery);
}

/** The measurements among sources, in their order. */
export function measurementsIn<S extends SourceKind>(
  sources: readonly S[],
): readonly Extract<S, { readonly kind: 'measurement' }>[] {
  return sources.filter(
    (source): source is Extract<S, { readonly kind: 'measurement' }> => !isSubquery(source),
  );
}

/** The measurements that a statement and its subqueries read, in the order of the text. */
export function measurementSources(statement: SelectStatement): readonly MeasurementSource[] {
  const { sources } = statement;
  if (sources.every((source): source is MeasurementSource => !isSubquery(source))) return sources;
  return sources.flatMap((source) =>
    isSubquery(source) ? measurementSources(source.statement) : [source],
  );
}

/** What is changed in a statement and its subqueries. */
export type SelectChanges = {
  readonly measurement?: (source: MeasurementSource) => MeasurementSource;
  /** Is given the statement with changed sources. */
  readonly select?: (statement: SelectStatement) => SelectStatement;
};

/** Rebuilds a statement, its sources first. */
export function rewriteSelect(statement: SelectStatement, changes: SelectChanges): SelectStatement {
  const { measurement = same, select = same } = changes;
  const sources = changedOf(statement.sources, (source) =>
    isSubquery(source)
      ? { ...source, statement: rewriteSelect(source.statement, changes) }
      : measurement(source),
  );
  return select(sources === statement.sources ? statement : { ...statement, sources });
}

/** The same list where nothing in it changes. */
function changedOf<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change);
  return changed.every((item, i) => item === list[i]) ? list : changed;
}

function same<T>(value: T): T {
  return value;
}
