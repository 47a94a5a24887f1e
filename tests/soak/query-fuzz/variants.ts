// The same statement with other literals in its conditions, as dashboards send it: a cached plan of
// one must not affect the result of the next.
import type { Expression, SelectStatement, Statement } from '@tidemark/influxql';

import type { Random } from './random.ts';
import { integer } from './trees.ts';

/** A variant of a statement of this form; the statement itself if it compares nothing. */
export function variantOf<S extends Statement>(random: Random, statement: S): S {
  if (statement.kind === 'select') return { ...statement, ...variantOfSelect(random, statement) };
  if (!('condition' in statement) || statement.condition === undefined) return statement;
  return { ...statement, condition: variantOfExpression(random, statement.condition) };
}

function variantOfSelect(random: Random, statement: SelectStatement): SelectStatement {
  const { condition } = statement;
  return {
    ...statement,
    condition: condition === undefined ? undefined : variantOfExpression(random, condition),
    sources: statement.sources.map((source) =>
      source.kind === 'subquery'
        ? { ...source, statement: variantOfSelect(random, source.statement) }
        : source,
    ),
  };
}

function variantOfExpression(random: Random, expression: Expression): Expression {
  switch (expression.kind) {
    case 'paren':
      return { ...expression, expression: variantOfExpression(random, expression.expression) };
    case 'binary': {
      const { operator, left, right } = expression;
      if (operator !== 'AND' && operator !== 'OR') {
        return { ...expression, right: variantOfLiteral(random, right) };
      }
      return {
        ...expression,
        left: variantOfExpression(random, left),
        right: variantOfExpression(random, right),
      };
    }
    default:
      return expression;
  }
}

const TEXTS = ['a', 'b', 'c', 'x', 'y', 'red', 'green', 'nosuch', '', "it's"] as const;
const MINUTE_NANOS = 60_000_000_000n;

function variantOfLiteral(random: Random, literal: Expression): Expression {
  switch (literal.kind) {
    case 'string':
      return { ...literal, value: random.pick(TEXTS) };
    case 'integer':
      // Occasionally with another type: plans depend on types.
      return random.chance(0.2)
        ? { kind: 'number', value: random.below(40) / 8, span: literal.span }
        : integer(random.below(40) - 15);
    case 'number':
      return { ...literal, value: random.below(160) / 8 - 5 };
    case 'boolean':
      return { ...literal, value: random.chance(0.5) };
    case 'duration': {
      // By minutes, so that windows begin elsewhere.
      const shift = BigInt(random.below(120) - 60) * MINUTE_NANOS;
      return { ...literal, nanos: literal.nanos + shift };
    }
    default:
      return literal;
  }
}
