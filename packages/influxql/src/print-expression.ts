// Expressions as text that parses to the same tree. Column names and messages show this text too.
import { formatDuration, unreachable } from '@tidemark/core';

import type { Binary, Expression } from './ast.ts';
import { PRECEDENCE } from './precedence.ts';
import { formatIdentifier, quoteRegex, quoteString } from './quote.ts';

/**
 * Prints an expression in the form that clients see: names quoted only where needed, one blank
 * around operators.
 */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'reference': {
      const name = formatIdentifier(expression.name);
      return expression.cast === undefined ? name : `${name}::${expression.cast}`;
    }
    case 'call': {
      // `distinct` is the one keyword that is a function name too.
      const name = expression.name === 'distinct' ? 'distinct' : formatIdentifier(expression.name);
      return `${name}(${expression.arguments.map(printExpression).join(', ')})`;
    }
    case 'binary':
      return printBinary(expression);
    case 'paren':
      return `(${printExpression(expression.expression)})`;
    case 'distinct':
      return `DISTINCT ${formatIdentifier(expression.name)}`;
    case 'wildcard':
      return expression.only === undefined ? '*' : `*::${expression.only}`;
    case 'regex':
      return quoteRegex(expression.pattern);
    case 'string':
      return quoteString(expression.value);
    case 'number':
      return printNumber(expression.value);
    case 'integer':
    case 'unsigned':
      return String(expression.value);
    case 'boolean':
      return String(expression.value);
    case 'duration':
      return formatDuration(expression.nanos);
    default:
      return unreachable(expression);
  }
}

/**
 * A written tree needs no parentheses beyond its own. One that was built does: `a / -b` is `a / (-1
 * * b)`. Chains of AND and OR are balanced trees that mean the same without them.
 */
function printBinary(expression: Binary): string {
  const { left, operator, right } = expression;
  const own = PRECEDENCE[operator];
  const isChain = operator === 'AND' || operator === 'OR';
  const leftText =
    left.kind === 'binary' && PRECEDENCE[left.operator] < own
      ? `(${printBinary(left)})`
      : printExpression(left);
  const mustWrap =
    right.kind === 'binary' &&
    (PRECEDENCE[right.operator] < own || (PRECEDENCE[right.operator] === own && !isChain));
  const rightText = mustWrap ? `(${printBinary(right)})` : printExpression(right);
  return `${leftText} ${operator} ${rightText}`;
}

/**
 * A float as the language can read it back: with a point, so that it is no integer, and without
 * exponent.
 */
export function printNumber(value: number): string {
  const text = plainDecimal(value);
  return text.includes('.') ? text : `${text}.0`;
}

/** The shortest digits that read back as the same number, without exponent. */
function plainDecimal(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return Object.is(value, -0) ? '-0' : text;
  const [, sign = '', whole = '', fraction = '', exponent = ''] = match;
  const digits = whole + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, '0')}`;
}
