// Constant folding: literals under an operator become one literal before anything is typed or
// planned.
import type { Span } from '@tidemark/core';
import { columnFrom, columnValue, compareValues, isComparison, wrapInteger } from '@tidemark/core';
import { isLiteral, rewrite } from '@tidemark/influxql';
import type { Binary, Call, Expression } from '@tidemark/influxql';

import { evaluateMath } from '../functions/math/evaluate.ts';
import { integerOperation } from '../functions/math/integers.ts';
import { FUNCTIONS } from '../functions/registry.ts';
import { ARITHMETIC } from './expressions.ts';

/**
 * Folds every operator over two literals. Integer division of literals gives a float, as in `3/2` =
 * 1.5.
 */
export function foldExpression(expression: Expression): Expression {
  return rewrite(expression, (node) => {
    if (node.kind === 'binary') return foldBinary(node) ?? node;
    if (node.kind === 'paren' && isFoldable(node.expression)) return node.expression;
    if (node.kind === 'call') return foldMath(node) ?? node;
    return node;
  });
}

/** `pow(2, 3)` is a number like any other. */
function foldMath(call: Call): Expression | undefined {
  const spec = FUNCTIONS.get(call.name);
  const count = call.arguments.length;
  if (spec?.kind !== 'math' || count < spec.minArguments || count > spec.maxArguments) {
    return undefined;
  }
  const given = call.arguments.map((argument) => {
    switch (argument.kind) {
      case 'number':
        return columnFrom('float', [argument.value]);
      case 'integer':
        return columnFrom('integer', [argument.value]);
      default:
        return undefined;
    }
  });
  if (!given.every((column) => column !== undefined)) return undefined;
  const value = columnValue(evaluateMath(call.name, given), 0);
  if (typeof value === 'number') return { kind: 'number', value, span: call.span };
  return typeof value === 'bigint' ? { kind: 'integer', value, span: call.span } : undefined;
}

/** Whether a literal is a value by itself, and not the argument of a comparison. */
export function isFoldable(node: Expression): boolean {
  return isLiteral(node) && node.kind !== 'string' && node.kind !== 'regex';
}

function foldBinary(node: Binary): Expression | undefined {
  const { left, right, operator, span } = node;
  if (left.kind === 'boolean' && right.kind === 'boolean') {
    return foldBooleans(node, left.value, right.value);
  }
  // If one side of a condition is constant, the condition is simplified.
  if (operator === 'AND' || operator === 'OR') {
    if (left.kind === 'boolean') return left.value === (operator === 'AND') ? right : left;
    if (right.kind === 'boolean') return right.value === (operator === 'AND') ? left : right;
    return undefined;
  }
  if (left.kind === 'string' && right.kind === 'string') {
    if (operator === '+') return { kind: 'string', value: left.value + right.value, span };
    if (operator === '=') return booleanLiteral(left.value === right.value, span);
    if (operator === '!=') return booleanLiteral(left.value !== right.value, span);
    return undefined;
  }
  const a = numeric(left);
  const b = numeric(right);
  if (a === undefined || b === undefined) return undefined;
  const isDuration = left.kind === 'duration' || right.kind === 'duration';
  if (isDuration) return foldDurations(node, a, b);
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    return foldIntegers(node, a, b, left.kind === 'unsigned' || right.kind === 'unsigned');
  }
  return foldNumbers(operator, Number(a), Number(b), span);
}

function numeric(node: Expression): number | bigint | undefined {
  switch (node.kind) {
    case 'number':
    case 'integer':
    case 'unsigned':
      return node.value;
    case 'duration':
      return node.nanos;
    default:
      return undefined;
  }
}

function booleanLiteral(value: boolean, span: Span): Expression {
  return { kind: 'boolean', value, span };
}

function foldBooleans(node: Binary, a: boolean, b: boolean): Expression | undefined {
  switch (node.operator) {
    case 'AND':
    case '&':
      return booleanLiteral(a && b, node.span);
    case 'OR':
    case '|':
      return booleanLiteral(a || b, node.span);
    case '^':
    case '!=':
      return booleanLiteral(a !== b, node.span);
    case '=':
      return booleanLiteral(a === b, node.span);
    default:
      return undefined;
  }
}

function foldComparison(
  operator: Binary['operator'],
  a: number | bigint,
  b: number | bigint,
  span: Span,
): Expression | undefined {
  return isComparison(operator) ? booleanLiteral(compareValues(a, operator, b), span) : undefined;
}

function foldIntegers(
  { operator, span }: Binary,
  a: bigint,
  b: bigint,
  isUnsigned: boolean,
): Expression | undefined {
  if (!ARITHMETIC.has(operator)) return foldComparison(operator, a, b, span);
  if (operator === '/' && !isUnsigned) {
    return { kind: 'number', value: b === 0n ? 0 : Number(a) / Number(b), span };
  }
  const kind = isUnsigned ? 'unsigned' : 'integer';
  return { kind, value: wrapInteger(kind, integerOperation(operator, a, b)), span };
}

function foldNumbers(
  operator: Binary['operator'],
  a: number,
  b: number,
  span: Span,
): Expression | undefined {
  const number = (value: number): Expression => ({ kind: 'number', value, span });
  switch (operator) {
    case '+':
      return number(a + b);
    case '-':
      return number(a - b);
    case '*':
      return number(a * b);
    case '/':
      return number(b === 0 ? 0 : a / b);
    case '%':
      return number(a % b);
    default:
      return foldComparison(operator, a, b, span);
  }
}

function foldDurations(
  { operator, left, right, span }: Binary,
  a: number | bigint,
  b: number | bigint,
): Expression | undefined {
  const duration = (nanos: bigint): Expression => ({
    kind: 'duration',
    nanos: BigInt.asIntN(64, nanos),
    span,
  });
  if (left.kind === 'duration' && right.kind === 'duration') {
    if (operator === '+') return duration(left.nanos + right.nanos);
    if (operator === '-') return duration(left.nanos - right.nanos);
    return foldComparison(operator, left.nanos, right.nanos, span);
  }
  if (operator === '*') {
    const product =
      typeof a === 'bigint' && typeof b === 'bigint'
        ? a * b
        : BigInt(Math.trunc(Number(a) * Number(b)));
    return duration(product);
  }
  if (operator === '/' && left.kind === 'duration') {
    if (Number(b) === 0) return duration(0n);
    return duration(
      typeof b === 'bigint' ? left.nanos / b : BigInt(Math.trunc(Number(left.nanos) / b)),
    );
  }
  return undefined;
}
