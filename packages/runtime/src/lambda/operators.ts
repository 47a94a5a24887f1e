// Binary and unary operators: per pair of operand types a closure over typed operands.
import { binaryResultType, binaryTypeError, operatorClass } from '@tidemark/tickscript';
import type {
  BinaryOperator,
  LambdaType,
  OperatorClass,
  UnaryOperator,
} from '@tidemark/tickscript';
import type { ValueType } from '../data/schema.ts';
import { compareBytes } from '@tidemark/core';
import { EvaluationError } from './errors.ts';
import { floatToInt } from './functions-misc.ts';
import type { Regex } from './regex.ts';
import type { Run, Typed } from './typed.ts';
import { failing, failingRun } from './typed.ts';

type OperandType = Typed['type'];

/** The type of a result; nulls do not occur here, and failures have no type. */
function resultType(
  operator: BinaryOperator,
  l: OperandType,
  r: OperandType,
): ValueType | undefined {
  if (!isLambdaType(l) || !isLambdaType(r)) return undefined;
  return binaryResultType(operator, l, r) as ValueType | undefined;
}

function operandError(
  operator: BinaryOperator,
  l: OperandType,
  r: OperandType,
): string | undefined {
  if (resultType(operator, l, r) !== undefined) return undefined;
  return binaryTypeError(operator, l as LambdaType, r as LambdaType);
}

function isLambdaType(type: OperandType): type is LambdaType {
  return type !== 'invalid' && type !== 'null';
}

/** A binary operation over specialised operands. */
export function binary(operator: BinaryOperator, left: Typed, right: Typed): Typed {
  const kind = operatorClass(operator);
  const error = binaryError(kind, operator, left, right);
  if (kind === 'math') {
    if (left.failure !== undefined) return left;
    if (right.failure !== undefined) return right;
    if (error !== undefined) return failing(error);
    const type = resultType(operator, left.type, right.type) ?? 'invalid';
    return { type, run: mathRun(operator, left, right) };
  }
  // Comparisons and logic are boolean before anything is known about their operands: mistakes in
  // them are only found when they are evaluated.
  const failure = left.failure ?? right.failure;
  if (failure !== undefined) return { type: 'boolean', run: throwing(failure) };
  if (error !== undefined) return { type: 'boolean', run: failingRun(error) };
  const run =
    kind === 'logical' ? logicalRun(operator, left, right) : compareRun(operator, left, right);
  return { type: 'boolean', run };
}

function throwing(failure: EvaluationError): Run {
  return () => {
    throw failure;
  };
}

function binaryError(
  kind: OperatorClass,
  operator: BinaryOperator,
  left: Typed,
  right: Typed,
): string | undefined {
  if (kind !== 'math') {
    if (left.type === 'missing') return `left reference value "${left.name}" is missing value`;
    if (right.type === 'missing') return `right reference value "${right.name}" is missing value`;
  }
  return operandError(operator, left.type, right.type);
}

function logicalRun(operator: BinaryOperator, left: Typed, right: Typed): Run<boolean> {
  const l = left.run as Run<boolean>;
  const r = right.run as Run<boolean>;
  return operator === 'AND' ? (p, f) => l(p, f) && r(p, f) : (p, f) => l(p, f) || r(p, f);
}

function compareRun(operator: BinaryOperator, left: Typed, right: Typed): Run<boolean> {
  if (operator === '=~' || operator === '!~') {
    const l = left.run as Run<string>;
    const r = right.run as Run<Regex>;
    const isNegated = operator === '!~';
    const constant = right.constant?.value as Regex | undefined;
    if (constant !== undefined) return (p, f) => constant.test(l(p, f)) !== isNegated;
    return (p, f) => r(p, f).test(l(p, f)) !== isNegated;
  }
  if (left.type === 'string') return compareStrings(operator, left, right);
  if (left.type === 'boolean' || (left.type === 'duration' && right.type === 'duration')) {
    return compareSame(operator, left.run as Run<bigint>, right.run as Run<bigint>);
  }
  if (left.type === 'int' && right.type === 'int') {
    return compareSame(operator, left.run as Run<bigint>, right.run as Run<bigint>);
  }
  return compareNumbers(operator, left, right);
}

/** Floats, or a float with an integer: the integer is rounded to a double first, as recorded. */
function compareNumbers(operator: BinaryOperator, left: Typed, right: Typed): Run<boolean> {
  const l = asFloat(left);
  const constant = right.constant?.value;
  if (typeof constant === 'number' || typeof constant === 'bigint') {
    return compareWithConstant(operator, l, { value: Number(constant), column: left.floatColumn });
  }
  return compareSame(operator, l, asFloat(right));
}

function asFloat(operand: Typed): Run<number> {
  if (operand.type === 'float') return operand.run as Run<number>;
  const run = operand.run as Run<bigint>;
  return (p, f) => Number(run(p, f));
}

/** A threshold on a float column is the most common predicate: read without a further call. */
function compareWithConstant(
  operator: BinaryOperator,
  l: Run<number>,
  right: { readonly value: number; readonly column: number | undefined },
): Run<boolean> {
  const { value: c, column } = right;
  if (column !== undefined) {
    switch (operator) {
      case '>':
        return (p) => ((p.rows.columns[column] as Float64Array)[p.row] as number) > c;
      case '>=':
        return (p) => ((p.rows.columns[column] as Float64Array)[p.row] as number) >= c;
      case '<':
        return (p) => ((p.rows.columns[column] as Float64Array)[p.row] as number) < c;
      case '<=':
        return (p) => ((p.rows.columns[column] as Float64Array)[p.row] as number) <= c;
    }
  }
  switch (operator) {
    case '>':
      return (p, f) => l(p, f) > c;
    case '>=':
      return (p, f) => l(p, f) >= c;
    case '<':
      return (p, f) => l(p, f) < c;
    case '<=':
      return (p, f) => l(p, f) <= c;
    case '==':
      return (p, f) => l(p, f) === c;
    default:
      return (p, f) => l(p, f) !== c;
  }
}

function compareSame<T extends number | bigint>(
  operator: BinaryOperator,
  l: Run<T>,
  r: Run<T>,
): Run<boolean> {
  switch (operator) {
    case '>':
      return (p, f) => l(p, f) > r(p, f);
    case '>=':
      return (p, f) => l(p, f) >= r(p, f);
    case '<':
      return (p, f) => l(p, f) < r(p, f);
    case '<=':
      return (p, f) => l(p, f) <= r(p, f);
    case '==':
      return (p, f) => l(p, f) === r(p, f);
    default:
      return (p, f) => l(p, f) !== r(p, f);
  }
}

function compareStrings(operator: BinaryOperator, left: Typed, right: Typed): Run<boolean> {
  const l = left.run as Run<string>;
  const r = right.run as Run<string>;
  const constant = right.constant?.value as string | undefined;
  switch (operator) {
    case '==':
      if (constant !== undefined) return (p, f) => l(p, f) === constant;
      return (p, f) => l(p, f) === r(p, f);
    case '!=':
      if (constant !== undefined) return (p, f) => l(p, f) !== constant;
      return (p, f) => l(p, f) !== r(p, f);
    case '>':
      return (p, f) => compareBytes(l(p, f), r(p, f)) > 0;
    case '>=':
      return (p, f) => compareBytes(l(p, f), r(p, f)) >= 0;
    case '<':
      return (p, f) => compareBytes(l(p, f), r(p, f)) < 0;
    default:
      return (p, f) => compareBytes(l(p, f), r(p, f)) <= 0;
  }
}

function mathRun(operator: BinaryOperator, left: Typed, right: Typed): Run {
  if (left.type === 'float' && right.type === 'float') {
    return floatMath(operator, left, right);
  }
  if (left.type === 'string') {
    const l = left.run as Run<string>;
    const r = right.run as Run<string>;
    return (p, f) => l(p, f) + r(p, f);
  }
  if (left.type === 'float' || right.type === 'float') return scaledDuration(operator, left, right);
  return intMath(operator, left.run as Run<bigint>, right.run as Run<bigint>);
}

function floatMath(operator: BinaryOperator, left: Typed, right: Typed): Run<number> {
  const l = left.run as Run<number>;
  const r = right.run as Run<number>;
  const c = right.constant?.value as number | undefined;
  switch (operator) {
    case '+':
      if (c !== undefined) return (p, f) => l(p, f) + c;
      return (p, f) => l(p, f) + r(p, f);
    case '-':
      if (c !== undefined) return (p, f) => l(p, f) - c;
      return (p, f) => l(p, f) - r(p, f);
    case '*':
      if (c !== undefined) return (p, f) => l(p, f) * c;
      return (p, f) => l(p, f) * r(p, f);
    default:
      if (c !== undefined) return (p, f) => l(p, f) / c;
      return (p, f) => l(p, f) / r(p, f);
  }
}

/** Integers and durations: 64 bits, wrapping. */
function intMath(operator: BinaryOperator, l: Run<bigint>, r: Run<bigint>): Run<bigint> {
  switch (operator) {
    case '+':
      return (p, f) => BigInt.asIntN(64, l(p, f) + r(p, f));
    case '-':
      return (p, f) => BigInt.asIntN(64, l(p, f) - r(p, f));
    case '*':
      return (p, f) => BigInt.asIntN(64, l(p, f) * r(p, f));
    case '/':
      return (p, f) => {
        const dividend = l(p, f);
        const divisor = r(p, f);
        if (divisor === 0n) throw new EvaluationError('runtime error: integer divide by zero');
        return BigInt.asIntN(64, dividend / divisor);
      };
    default:
      return (p, f) => {
        const dividend = l(p, f);
        const divisor = r(p, f);
        if (divisor === 0n) throw new EvaluationError('runtime error: integer divide by zero');
        return dividend % divisor;
      };
  }
}

function scaledDuration(operator: BinaryOperator, left: Typed, right: Typed): Run<bigint> {
  if (operator === '/') {
    const l = left.run as Run<bigint>;
    const r = right.run as Run<number>;
    return (p, f) => floatToInt(Number(l(p, f)) / r(p, f));
  }
  const l = asFloat(left.type === 'duration' ? { ...left, type: 'int' } : left);
  const r = asFloat(right.type === 'duration' ? { ...right, type: 'int' } : right);
  return (p, f) => floatToInt(l(p, f) * r(p, f));
}

/** A unary operation over a specialised operand. */
export function unary(operator: UnaryOperator, operand: Typed): Typed {
  if (operator === '!') return negation(operand);
  if (operand.failure !== undefined) return operand;
  if (operand.type === 'missing') return failing(missingOperand(operand));
  switch (operand.type) {
    case 'float': {
      const run = operand.run as Run<number>;
      const constant = operand.constant;
      return {
        type: 'float',
        run: (p, f) => -run(p, f),
        ...(constant === undefined ? {} : { constant: { value: -(constant.value as number) } }),
      };
    }
    case 'int':
    case 'duration': {
      const run = operand.run as Run<bigint>;
      const constant = operand.constant;
      return {
        type: operand.type,
        run: (p, f) => BigInt.asIntN(64, -run(p, f)),
        ...(constant === undefined ? {} : { constant: { value: -(constant.value as bigint) } }),
      };
    }
    default:
      return failing(
        `TypeGuard: expression returned unexpected type invalid type, expected ${operand.type}`,
      );
  }
}

/** Boolean before anything is known about its operand, like comparisons. */
function negation(operand: Typed): Typed {
  if (operand.failure !== undefined) return { type: 'boolean', run: throwing(operand.failure) };
  if (operand.type === 'missing')
    return { type: 'boolean', run: failingRun(missingOperand(operand)) };
  if (operand.type !== 'boolean') {
    const reason = `TypeGuard: expression returned unexpected type ${operand.type}, expected boolean`;
    return { type: 'boolean', run: failingRun(reason) };
  }
  const run = operand.run as Run<boolean>;
  return { type: 'boolean', run: (p, f) => !run(p, f) };
}

function missingOperand({ name }: Typed): string {
  return `reference "${name}" is missing value`;
}
