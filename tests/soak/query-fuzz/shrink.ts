// Shrinks a failing case: fewer points, a simpler statement, as long as the two servers still
// differ.
import type { Expression, SelectStatement, Statement } from '@tidemark/influxql';

import type { Line } from './data.ts';

export type FuzzCase = { readonly lines: readonly Line[]; readonly statement: Statement };

/** How often a smaller case is tried; each try loads its data into both servers. */
const MAX_TRIES = 250;

/** The smallest case found for which `isFailing` still holds. */
export function shrink(
  start: FuzzCase,
  isFailing: (smaller: FuzzCase) => Promise<boolean>,
): Promise<FuzzCase> {
  return smallest(start, smallerCases, isFailing);
}

/** The fewest lines found for which `isFailing` still holds. */
export function smallerLines(
  start: readonly Line[],
  isFailing: (fewer: readonly Line[]) => Promise<boolean>,
): Promise<readonly Line[]> {
  return smallest(start, fewerLines, isFailing);
}

async function smallest<T>(
  start: T,
  smallerThan: (one: T) => Iterable<T>,
  isFailing: (smaller: T) => Promise<boolean>,
): Promise<T> {
  let best = start;
  let tries = 0;
  let hasProgress = true;
  while (hasProgress) {
    hasProgress = false;
    for (const smaller of smallerThan(best)) {
      if (tries++ >= MAX_TRIES) return best;
      if (!(await isFailing(smaller))) continue;
      best = smaller;
      hasProgress = true;
      break;
    }
  }
  return best;
}

/** Smaller cases, the ones that save most first. */
export function* smallerCases(from: FuzzCase): Generator<FuzzCase> {
  const { lines, statement } = from;
  for (const simpler of simplerStatements(statement)) {
    if (simpler.kind !== 'select' || !hasOpenWindows(simpler)) yield { lines, statement: simpler };
  }
  for (const fewer of fewerLines(lines)) yield { statement, lines: fewer };
}

function* fewerLines(lines: readonly Line[]): Generator<readonly Line[]> {
  for (let size = (lines.length + 1) >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < lines.length; at += size) {
      yield [...lines.slice(0, at), ...lines.slice(at + size)];
    }
  }
}

/**
 * Windows without both bounds of time reach up to the present, which is another question than the
 * one asked.
 */
function hasOpenWindows(statement: SelectStatement, isBoundedOutside = false): boolean {
  const { condition, dimensions, sources } = statement;
  const isBounded = isBoundedOutside || (condition !== undefined && boundsOf(condition) >= 2);
  const hasWindows = dimensions.some((one) => one.kind === 'call' && one.name === 'time');
  if (hasWindows && !isBounded) return true;
  return sources.some(
    (source) => source.kind === 'subquery' && hasOpenWindows(source.statement, isBounded),
  );
}

function boundsOf(condition: Expression): number {
  if (condition.kind === 'paren') return boundsOf(condition.expression);
  if (condition.kind !== 'binary') return 0;
  const { left, right, operator } = condition;
  if (operator === 'AND' || operator === 'OR') return boundsOf(left) + boundsOf(right);
  return left.kind === 'reference' && left.name === 'time' ? 1 : 0;
}

function* simplerStatements(statement: Statement): Generator<Statement> {
  if (statement.kind === 'select') yield* simplerSelects(statement);
  else if ('condition' in statement && statement.condition !== undefined) {
    yield { ...statement, condition: undefined };
  }
}

const OPTIONAL = [
  'condition',
  'fill',
  'orderBy',
  'limit',
  'offset',
  'seriesLimit',
  'seriesOffset',
  'timeZone',
] as const;

function* simplerSelects(statement: SelectStatement): Generator<SelectStatement> {
  for (const [i, source] of statement.sources.entries()) {
    if (source.kind === 'subquery') {
      yield source.statement;
      for (const inner of simplerSelects(source.statement)) {
        const sources = statement.sources.with(i, { ...source, statement: inner });
        yield { ...statement, sources };
      }
    }
    if (statement.sources.length > 1)
      yield { ...statement, sources: without(statement.sources, i) };
  }
  for (const clause of OPTIONAL) {
    if (statement[clause] !== undefined) yield { ...statement, [clause]: undefined };
  }
  for (const [i] of statement.dimensions.entries()) {
    yield { ...statement, dimensions: without(statement.dimensions, i) };
  }
  for (const [i, field] of statement.fields.entries()) {
    if (statement.fields.length > 1) yield { ...statement, fields: without(statement.fields, i) };
    for (const expression of simplerExpressions(field.expression)) {
      yield { ...statement, fields: statement.fields.with(i, { ...field, expression }) };
    }
  }
  if (statement.condition !== undefined) {
    for (const condition of simplerExpressions(statement.condition)) {
      yield { ...statement, condition };
    }
  }
}

function* simplerExpressions(expression: Expression): Generator<Expression> {
  switch (expression.kind) {
    case 'binary': {
      const { left, right } = expression;
      yield left;
      yield right;
      for (const simpler of simplerExpressions(left)) yield { ...expression, left: simpler };
      for (const simpler of simplerExpressions(right)) yield { ...expression, right: simpler };
      return;
    }
    case 'paren':
      yield expression.expression;
      return;
    case 'call': {
      const [first] = expression.arguments;
      if (first?.kind === 'call' || first?.kind === 'reference') yield first;
      return;
    }
    default:
  }
}

function without<T>(list: readonly T[], index: number): readonly T[] {
  return [...list.slice(0, index), ...list.slice(index + 1)];
}
