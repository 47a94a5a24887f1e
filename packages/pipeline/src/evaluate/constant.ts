// Arithmetic outside lambdas: computed once while the script is evaluated, by the rules of lambda
// expressions.
import { formatFloat, LAMBDA_FUNCTIONS, parseDuration } from '@tidemark/tickscript';
import {
  binaryResultType,
  binaryTypeError,
  callResultType,
  callTypeError,
  formatExpression,
  unaryResultType,
} from '@tidemark/tickscript';
import type { BinaryOperator, ExpressionNode, LambdaType } from '@tidemark/tickscript';
import {
  compareBytes,
  formatDuration,
  isInt64Operator,
  unreachable,
  wrapInt64,
} from '@tidemark/core';
import type { Int64Operator } from '@tidemark/core';
import { MAX_STRING_LENGTH } from '../limits.ts';
import { EvaluationFailure } from './failure.ts';

/** What a constant expression can yield. */
export type Constant =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'duration'; readonly nanos: bigint }
  | { readonly kind: 'regex'; readonly pattern: string; readonly literal: string };

/**
 * Computes an expression whose identifiers have been replaced by literals. Throws
 * `EvaluationFailure`.
 */
export function evaluateConstant(node: ExpressionNode): Constant {
  switch (node.kind) {
    case 'boolean':
    case 'integer':
    case 'float':
    case 'string':
    case 'duration':
    case 'regex':
      return node;
    case 'unary':
      return nested(node, () => negate(node.operator, evaluateConstant(node.operand)));
    case 'binary':
      return evaluateBinary(node);
    case 'function':
      return evaluateCall(node);
    case 'reference':
      throw refusal(node, `name ${JSON.stringify(node.name)} is undefined. Names in scope: `);
    case 'lambda':
    case 'list':
    case 'star':
    case 'identifier':
    case 'chain':
      throw refusal(node, `a ${node.kind} cannot be computed with`);
    default:
      return unreachable(node);
  }
}

function refusal(node: ExpressionNode, text: string): EvaluationFailure {
  const { span } = node;
  const hint = node.kind === 'reference' ? 'write lambda: before the expression' : undefined;
  return new EvaluationFailure('TICK_CONSTANT', text, { span, isPositioned: false, hint });
}

/** Runs a step; a text that it throws becomes a failure at this node. */
function nested<T>(node: ExpressionNode, step: () => T): T {
  try {
    return step();
  } catch (error) {
    // ConstantFailure is thrown below by steps that do not know their node.
    if (error instanceof ConstantFailure) throw refusal(node, error.message);
    throw error;
  }
}

class ConstantFailure extends Error {
  override readonly name = 'ConstantFailure';
}

function typeOf(value: Constant): LambdaType {
  return value.kind === 'integer' ? 'int' : value.kind;
}

/** `-` or `!` of a value; throws `ConstantFailure`, which `evaluateConstant` locates. */
function negate(operator: '-' | '!', value: Constant): Constant {
  const type = typeOf(value);
  if (unaryResultType(operator, type) === undefined) {
    throw new ConstantFailure(`invalid unary operator ${operator} for type ${type}`);
  }
  return negated(value) ?? value;
}

/**
 * The negative of a number or duration, the opposite of a boolean; `undefined` for everything else.
 */
export function negated(value: Constant): Constant | undefined {
  switch (value.kind) {
    case 'boolean':
      return { kind: 'boolean', value: !value.value };
    case 'integer':
      return { kind: 'integer', value: BigInt.asIntN(64, -value.value) };
    case 'float':
      return { kind: 'float', value: -value.value };
    case 'duration':
      return { kind: 'duration', nanos: BigInt.asIntN(64, -value.nanos) };
    default:
      return undefined;
  }
}

function evaluateBinary(node: Extract<ExpressionNode, { kind: 'binary' }>): Constant {
  const left = evaluateConstant(node.left);
  // The right side of AND and OR is checked, but computed only if it decides the result.
  const right = evaluateConstant(node.right);
  const [leftType, rightType] = [typeOf(left), typeOf(right)];
  if (binaryResultType(node.operator, leftType, rightType) === undefined) {
    throw refusal(node, binaryTypeError(node.operator, leftType, rightType));
  }
  return nested(node, () => combine(node.operator, left, right));
}

function combine(operator: BinaryOperator, left: Constant, right: Constant): Constant {
  if (left.kind === 'boolean' && right.kind === 'boolean') {
    if (operator === 'AND') return { kind: 'boolean', value: left.value && right.value };
    if (operator === 'OR') return { kind: 'boolean', value: left.value || right.value };
  }
  if (isInt64Operator(operator)) return arithmetic(operator, left, right);
  switch (operator) {
    case '=~':
    case '!~':
      throw new ConstantFailure('regular expressions can only be matched inside a lambda');
    default:
      return { kind: 'boolean', value: holds(operator, compare(left, right)) };
  }
}

function arithmetic(operator: Int64Operator, left: Constant, right: Constant): Constant {
  if (left.kind === 'string' && right.kind === 'string') {
    if (left.value.length + right.value.length > MAX_STRING_LENGTH.value) {
      throw new ConstantFailure(`text is longer than ${MAX_STRING_LENGTH.value} characters`);
    }
    return { kind: 'string', value: left.value + right.value };
  }
  if (left.kind === 'float' && right.kind === 'float') {
    return { kind: 'float', value: floatResult(operator, left.value, right.value) };
  }
  const isDurationResult =
    (left.kind === 'duration') !== (right.kind === 'duration') ||
    (left.kind === 'duration' && operator !== '/');
  if (left.kind === 'float' || right.kind === 'float') {
    // One side is a duration; the result is truncated to whole nanoseconds.
    const value = floatResult(operator, toNumber(left), toNumber(right));
    if (!Number.isFinite(value)) throw new ConstantFailure('duration out of range');
    return { kind: 'duration', nanos: BigInt.asIntN(64, BigInt(Math.trunc(value))) };
  }
  const value = integerResult(operator, toBigint(left), toBigint(right));
  return isDurationResult ? { kind: 'duration', nanos: value } : { kind: 'integer', value };
}

function toBigint(value: Constant): bigint {
  if (value.kind === 'integer') return value.value;
  if (value.kind === 'duration') return value.nanos;
  throw new ConstantFailure(`not an integer: ${value.kind}`);
}

function toNumber(value: Constant): number {
  return value.kind === 'float' ? value.value : Number(toBigint(value));
}

function integerResult(operator: Int64Operator, a: bigint, b: bigint): bigint {
  const result = wrapInt64(operator, a, b);
  if (result === undefined) throw new ConstantFailure('runtime error: integer divide by zero');
  return result;
}

function floatResult(operator: Int64Operator, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
  }
}

/** Negative, zero or positive; NaN for unordered values. */
function compare(left: Constant, right: Constant): number {
  if (left.kind === 'string' && right.kind === 'string')
    return compareBytes(left.value, right.value);
  if (left.kind === 'boolean' && right.kind === 'boolean')
    return left.value === right.value ? 0 : 1;
  if (left.kind === 'float' || right.kind === 'float') {
    const [a, b] = [toNumber(left), toNumber(right)];
    return a === b ? 0 : a < b ? -1 : a > b ? 1 : Number.NaN;
  }
  const [a, b] = [toBigint(left), toBigint(right)];
  return a === b ? 0 : a < b ? -1 : 1;
}

function holds(operator: BinaryOperator, order: number): boolean {
  switch (operator) {
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    default:
      return order >= 0;
  }
}

/** Conversions and `if`; other functions only make sense with points. */
function evaluateCall(node: Extract<ExpressionNode, { kind: 'function' }>): Constant {
  const fn = LAMBDA_FUNCTIONS.get(node.name);
  if (fn === undefined) throw refusal(node, `undefined function: "${node.name}"`);
  const values = node.arguments.map(evaluateConstant);
  if (callResultType(fn, values.map(typeOf)) === undefined) {
    const list = values.map((value, index) => {
      const argument = node.arguments[index];
      return {
        text: argument === undefined ? '' : formatExpression(argument),
        type: typeOf(value),
      };
    });
    throw refusal(node, callTypeError(fn, list));
  }
  const [first, second, third] = values;
  const result = nested(node, () => {
    if (first === undefined) return undefined;
    switch (node.name) {
      case 'bool':
        return { kind: 'boolean', value: toBoolean(first) } as const;
      case 'int':
        return { kind: 'integer', value: toInteger(first) } as const;
      case 'float':
        return { kind: 'float', value: toFloat(first) } as const;
      case 'string':
        return { kind: 'string', value: toText(first) } as const;
      case 'duration':
        return { kind: 'duration', nanos: toDuration(first, second) } as const;
      case 'if':
        return first.kind === 'boolean' && first.value ? second : third;
      default:
        return undefined;
    }
  });
  if (result !== undefined) return result;
  throw refusal(node, `function "${node.name}" can only be used inside a lambda`);
}

function toBoolean(value: Constant): boolean {
  const text = value.kind === 'string' ? value.value : toText(value);
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  throw new ConstantFailure(
    value.kind === 'string'
      ? `error calling "bool": strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`
      : `error calling "bool": cannot convert ${text} to boolean`,
  );
}

function toInteger(value: Constant): bigint {
  switch (value.kind) {
    case 'boolean':
      return value.value ? 1n : 0n;
    case 'float':
      return BigInt.asIntN(64, BigInt(Math.trunc(Number.isFinite(value.value) ? value.value : 0)));
    case 'string':
      if (/^[+-]?\d+$/.test(value.value)) return BigInt.asIntN(64, BigInt(value.value));
      throw new ConstantFailure(
        `error calling "int": strconv.ParseInt: parsing ${JSON.stringify(value.value)}: invalid syntax`,
      );
    default:
      return toBigint(value);
  }
}

function toFloat(value: Constant): number {
  if (value.kind === 'boolean') return value.value ? 1 : 0;
  if (value.kind !== 'string') return toNumber(value);
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value.value)) return Number(value.value);
  throw new ConstantFailure(
    `error calling "float": strconv.ParseFloat: parsing ${JSON.stringify(value.value)}: invalid syntax`,
  );
}

function toText(value: Constant): string {
  switch (value.kind) {
    case 'float':
      return formatFloat(value.value).replace(/\.0$/, '');
    case 'duration':
      return formatDuration(value.nanos);
    case 'regex':
      return value.pattern;
    default:
      return String(value.value);
  }
}

function toDuration(value: Constant, unit: Constant | undefined): bigint {
  if (value.kind === 'duration') return value.nanos;
  if (value.kind === 'string') {
    const nanos = parseDuration(value.value);
    if (nanos !== undefined) return nanos;
    throw new ConstantFailure(
      `error calling "duration": invalid duration string ${JSON.stringify(value.value)}`,
    );
  }
  const nanos = unit?.kind === 'duration' ? unit.nanos : 0n;
  if (value.kind === 'integer') return BigInt.asIntN(64, value.value * nanos);
  return BigInt.asIntN(64, BigInt(Math.trunc(toNumber(value) * Number(nanos))));
}
