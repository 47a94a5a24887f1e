// Expressions: operands and operators by precedence. Iterative where texts are long (chains of
// operators), recursive and bounded where they are deep (parentheses, calls).
import { FIELD_TYPES } from '@tidemark/core';
import type { Span } from '@tidemark/core';

import type { BinaryOperator, CastType, Expression } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { MAX_OPERATORS } from './limits.ts';
import { integerLiteral, negated } from './literal.ts';
import { PRECEDENCE } from './precedence.ts';
import { printExpression } from './print-expression.ts';
import { formatIdentifier, quoteIdentifier } from './quote.ts';
import type { Token } from './token.ts';

const MAX_SEGMENTS = 3;

/**
 * An expression and the height of its tree, which is bounded because everything that walks it is
 * recursive.
 */
type Operand = { readonly expression: Expression; readonly height: number };

/** Parses an expression: `mean(usage) * 2`, `host = 'a' AND time > now() - 1h`. */
export function parseExpressionAt(cursor: Cursor): Expression {
  return operation(cursor).expression;
}

/**
 * Names joined by dots: `db.rp.name`, `db..name`. Stops before a regular expression or
 * `:MEASUREMENT` after a dot.
 */
export function parseSegments(cursor: Cursor): readonly string[] {
  const { start } = cursor.peek();
  const segments = [cursor.identifier()];
  while (cursor.atAdjacent('.')) {
    cursor.next();
    cursor.lookFurther();
    if (cursor.atAdjacent('/') || cursor.atAdjacent(':') || cursor.atAdjacent('::')) break;
    if (cursor.atAdjacent('.')) segments.push('');
    else segments.push(cursor.identifier());
  }
  if (segments.length > MAX_SEGMENTS) {
    const last = segments.at(-1) ?? '';
    const path = [...segments.slice(0, -1).map(quoteIdentifier), formatIdentifier(last)].join('.');
    const hint = 'a name that contains dots is written in double quotes';
    // Existing clients see this text with the place of the first character.
    const message = `too many segments in ${path} at line 1, char 1`;
    cursor.fail(message, cursor.spanFrom(start), 'IQL_SEGMENTS', hint);
  }
  return segments;
}

/**
 * Operators and their operands, in the order of the text. An operator is applied when one that
 * binds no tighter follows. AND and OR wait until their chain ends, so that a long chain becomes a
 * balanced tree.
 */
function operation(cursor: Cursor): Operand {
  const operands: Operand[] = [operandOf(cursor)];
  const operators: BinaryOperator[] = [];
  for (;;) {
    const operator = operatorAt(cursor.peek());
    if (operator === undefined) break;
    cursor.next();
    while (mustApply(operators.at(-1), operator)) applyLast(cursor, operators, operands);
    operators.push(operator);
    operands.push(isMatch(operator) ? matchedRegex(cursor) : operandOf(cursor));
  }
  while (operators.length > 0) applyLast(cursor, operators, operands);
  const [result] = operands;
  return result ?? operandOf(cursor);
}

function operatorAt(token: Token): BinaryOperator | undefined {
  return Object.hasOwn(PRECEDENCE, token.fixed) ? (token.fixed as BinaryOperator) : undefined;
}

function isMatch(operator: BinaryOperator): boolean {
  return operator === '=~' || operator === '!~';
}

function isLogical(operator: BinaryOperator): boolean {
  return operator === 'AND' || operator === 'OR';
}

function mustApply(last: BinaryOperator | undefined, next: BinaryOperator): boolean {
  if (last === undefined || PRECEDENCE[last] < PRECEDENCE[next]) return false;
  return !(last === next && isLogical(next));
}

function applyLast(cursor: Cursor, operators: BinaryOperator[], operands: Operand[]): void {
  const operator = operators.pop();
  if (operator === undefined) return;
  let count = 2;
  if (isLogical(operator)) {
    while (operators.at(-1) === operator) {
      operators.pop();
      count++;
    }
  }
  const applied = operands.splice(operands.length - count, count);
  operands.push(joinBalanced(cursor, operator, applied));
}

function joinBalanced(
  cursor: Cursor,
  operator: BinaryOperator,
  operands: readonly Operand[],
): Operand {
  const [first] = operands;
  if (first !== undefined && operands.length === 1) return first;
  // Two to four operands keep their written shape; a longer chain is halved.
  const middle = operands.length <= 4 ? operands.length - 1 : operands.length >> 1;
  const left = joinBalanced(cursor, operator, operands.slice(0, middle));
  const right = joinBalanced(cursor, operator, operands.slice(middle));
  const span = { start: left.expression.span.start, end: right.expression.span.end };
  return checkHeight(
    cursor,
    { kind: 'binary', operator, left: left.expression, right: right.expression, span },
    Math.max(left.height, right.height) + 1,
  );
}

function checkHeight(cursor: Cursor, expression: Expression, height: number): Operand {
  if (height > cursor.maxOperators) {
    cursor.failLimit(MAX_OPERATORS, {
      reason: `the expression has more than ${cursor.maxOperators} operators in a row`,
      span: expression.span,
      hint: 'split it with parentheses or a subquery',
    });
  }
  return { expression, height };
}

function matchedRegex(cursor: Cursor): Operand {
  return leaf(regexAt(cursor) ?? cursor.failExpected(['regex']));
}

/** A regular expression if one begins here. */
export function regexAt(cursor: Cursor): Expression | undefined {
  const token = cursor.regex();
  return token && { kind: 'regex', pattern: token.text, span: spanOf(token) };
}

/**
 * One operand: parentheses, call, reference, literal, wildcard, each with at most one sign before
 * it.
 */
function operandOf(cursor: Cursor): Operand {
  const token = cursor.peek();
  switch (token.kind) {
    case 'identifier':
      return named(cursor);
    case 'string':
      cursor.next();
      return leaf({ kind: 'string', value: token.text, span: spanOf(token) });
    case 'number':
      cursor.next();
      return leaf({ kind: 'number', value: Number(token.text), span: spanOf(token) });
    case 'integer': {
      const literal = integerLiteral(cursor.next(), spanOf(token));
      if (literal !== undefined) return leaf(literal);
      return cursor.failAt(
        'unable to parse integer',
        token,
        'IQL_INTEGER',
        'integers have 64 bits',
      );
    }
    case 'duration':
      return leaf({ kind: 'duration', nanos: cursor.expressionDuration(), span: spanOf(token) });
    case 'regex':
      return matchedRegex(cursor);
    case 'parameter': {
      const hint = 'give it a value in the request parameter params, a JSON object';
      const isEmpty = token.text === '';
      const message = isEmpty ? 'empty bound parameter' : `missing parameter: ${token.text}`;
      return cursor.fail(message, spanOf(token), 'IQL_PARAMETER', hint);
    }
    case 'bad-parameter':
      return cursor.fail(token.text, spanOf(token), 'IQL_PARAMETER');
    default:
      return fixedOperand(cursor, token);
  }
}

function fixedOperand(cursor: Cursor, token: Token): Operand {
  switch (token.fixed) {
    case '(':
      return parenthesised(cursor);
    case 'DISTINCT':
      return distinct(cursor);
    case '*':
      return wildcard(cursor);
    case '+':
    case '-':
      return signed(cursor);
    case 'TRUE':
    case 'FALSE':
      cursor.next();
      return leaf({ kind: 'boolean', value: token.fixed === 'TRUE', span: spanOf(token) });
    default:
      return cursor.failExpected(['identifier', 'string', 'number', 'bool']);
  }
}

function parenthesised(cursor: Cursor): Operand {
  const { start } = cursor.next();
  const inner = cursor.nested(() => operation(cursor));
  cursor.expect(')');
  const span = cursor.spanFrom(start);
  const paren: Expression = { kind: 'paren', expression: inner.expression, span };
  return checkHeight(cursor, paren, inner.height + 1);
}

function named(cursor: Cursor): Operand {
  const token = cursor.peek();
  // A dot, a cast or a bracket must follow directly, so one token of look-ahead after the name
  // decides.
  const segments = parseSegments(cursor);
  if (segments.length === 1 && cursor.atAdjacent('(')) {
    return callAt(cursor, token.text.toLowerCase(), token.start);
  }
  const cast = cursor.atAdjacent('::') ? castType(cursor) : undefined;
  const name = segments.join('.');
  return leaf({ kind: 'reference', name, cast, span: cursor.spanFrom(token.start) });
}

function castType(cursor: Cursor): CastType {
  cursor.next();
  const blank = cursor.blankBehindLast();
  const token = cursor.peek();
  if (blank === undefined) {
    if (token.fixed === 'FIELD' || token.fixed === 'TAG') {
      cursor.next();
      return token.fixed === 'FIELD' ? 'field' : 'tag';
    }
    if (token.kind === 'identifier') {
      const word = token.text.toLowerCase();
      const type = FIELD_TYPES.find((each) => each === word);
      if (type === undefined) cursor.failExpected([...FIELD_TYPES, 'field', 'tag']);
      cursor.next();
      return type;
    }
  }
  const types = ['float', 'integer', 'string', 'boolean', 'field', 'tag'];
  return cursor.failExpected(types, blank ?? token);
}

function callAt(cursor: Cursor, name: string, start: number): Operand {
  cursor.next();
  const args = cursor.nested(() => (cursor.at(')') ? [] : cursor.list(argument)));
  cursor.expect(')');
  const height = args.reduce((highest, arg) => Math.max(highest, arg.height), 0) + 1;
  const list = args.map((arg) => arg.expression);
  const call: Expression = { kind: 'call', name, arguments: list, span: cursor.spanFrom(start) };
  return checkHeight(cursor, call, height);
}

function argument(cursor: Cursor): Operand {
  const regex = regexAt(cursor);
  return regex === undefined ? operation(cursor) : leaf(regex);
}

function distinct(cursor: Cursor): Operand {
  const { start } = cursor.next();
  if (cursor.atAdjacent('(')) return callAt(cursor, 'distinct', start);
  if (!cursor.peek().hasBlankBefore) cursor.failExpected(['(', 'identifier']);
  const name = cursor.identifier();
  return leaf({ kind: 'distinct', name, span: cursor.spanFrom(start) });
}

function wildcard(cursor: Cursor): Operand {
  const { start } = cursor.next();
  if (!cursor.atAdjacent('::')) {
    return leaf({ kind: 'wildcard', span: cursor.spanFrom(start) });
  }
  cursor.next();
  const blank = cursor.blankBehindLast();
  const token = cursor.peek();
  if (blank !== undefined || (token.fixed !== 'FIELD' && token.fixed !== 'TAG')) {
    cursor.failExpected(['field', 'tag'], blank ?? token);
  }
  cursor.next();
  const only = token.fixed === 'FIELD' ? 'field' : 'tag';
  return leaf({ kind: 'wildcard', only, span: cursor.spanFrom(start) });
}

/** A sign becomes part of a number; before anything else it is a multiplication by 1 or -1. */
function signed(cursor: Cursor): Operand {
  const sign = cursor.next();
  const isNegative = sign.fixed === '-';
  const token = cursor.peek();
  if (!SIGNABLE.has(token.kind) && token.fixed !== '(') {
    cursor.failExpected(['identifier', 'number', 'duration', '(']);
  }
  const operand = operandOf(cursor);
  const { expression } = operand;
  const span = cursor.spanFrom(sign.start);
  switch (expression.kind) {
    case 'number':
    case 'integer':
    case 'unsigned':
    case 'duration': {
      const literal = isNegative ? negated(expression) : expression;
      if (literal !== undefined) return leaf({ ...literal, span });
      return cursor.fail(
        `constant -${printExpression(expression)} underflows int64`,
        span,
        'IQL_INTEGER',
      );
    }
    default: {
      const value = isNegative ? -1n : 1n;
      const left: Expression = { kind: 'integer', value, span: spanOf(sign) };
      const product: Expression = { kind: 'binary', operator: '*', left, right: expression, span };
      return checkHeight(cursor, product, operand.height + 1);
    }
  }
}

const SIGNABLE: ReadonlySet<Token['kind']> = new Set([
  'identifier',
  'number',
  'integer',
  'duration',
]);

function leaf(expression: Expression): Operand {
  return { expression, height: 1 };
}

function spanOf(token: Token): Span {
  return { start: token.start, end: token.end };
}
