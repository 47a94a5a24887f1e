// Evaluates expressions over whole columns: arithmetic of SELECT lists and conditions of WHERE.
import type { Column, FieldType } from '@tidemark/core';
import {
  columnFrom,
  columnValue,
  compareValues,
  isComparison,
  textAt,
  textCount,
  unreachable,
  wrapInteger,
} from '@tidemark/core';
import type { ComparisonOperator, FieldValue } from '@tidemark/core';

import { constantColumn, convertColumn, nullColumn } from '../batch/column-ops.ts';
import { evaluateMath } from '../functions/math/evaluate.ts';
import { integerOperation } from '../functions/math/integers.ts';
import { textMatcher } from '../regex.ts';
import type { ValueExpression } from '../analyse/columns.ts';

export type EvaluationContext = {
  /** The columns that the expression numbers. */
  readonly columns: readonly Column[];
  readonly rowCount: number;
  /** In SELECT the division of integers is a float; in WHERE it is an integer. */
  readonly isCondition: boolean;
};

/**
 * The column of an expression's values, one per row. Floats may be NaN, which answers print as
 * null.
 */
export function evaluate(expression: ValueExpression, context: EvaluationContext): Column {
  const { rowCount } = context;
  switch (expression.kind) {
    case 'column':
      return context.columns[expression.index] ?? nullColumn(expression.type ?? 'float', rowCount);
    case 'constant':
      return constantColumn(expression.value, expression.type, rowCount);
    case 'null':
      return nullColumn('float', rowCount);
    case 'regex':
      return evaluateRegex(expression, context);
    case 'math': {
      if (expression.type === undefined) return nullColumn('float', rowCount);
      const given = expression.arguments.map((argument) => evaluate(argument, context));
      return evaluateMath(expression.name, given);
    }
    case 'binary':
      return evaluateBinary(expression, context);
    default:
      return unreachable(expression);
  }
}

type BinaryExpression = Extract<ValueExpression, { kind: 'binary' }>;

function evaluateBinary(node: BinaryExpression, context: EvaluationContext): Column {
  const { operator, type } = node;
  const isFloat = type === 'float';
  const left = isFloat ? evaluateFloat(node.left, context) : evaluate(node.left, context);
  const right = isFloat ? evaluateFloat(node.right, context) : evaluate(node.right, context);
  if (operator === 'AND' || operator === 'OR') {
    return logical(operator, left, right, context.rowCount);
  }
  if (isComparison(operator)) return comparison(operator, left, right, context.rowCount);
  if (type === undefined || node.left.type === undefined || node.right.type === undefined) {
    return nullColumn(type ?? 'float', context.rowCount);
  }
  if (isFloat) {
    return floatArithmetic(operator, left, right, context.rowCount);
  }
  return scalarArithmetic(operator, type, [left, right], context.rowCount);
}

/** An operand of float arithmetic. A whole constant becomes a float before it is evaluated. */
function evaluateFloat(node: ValueExpression, context: EvaluationContext): Column {
  const isWhole = node.kind === 'constant' && (node.type === 'integer' || node.type === 'unsigned');
  return isWhole ? constantColumn(node.value, 'float', context.rowCount) : evaluate(node, context);
}

function bothValid(left: Column, right: Column, rowCount: number): Uint8Array | undefined {
  if (left.valid === undefined) return right.valid;
  if (right.valid === undefined) return left.valid;
  const valid = new Uint8Array(rowCount);
  for (let i = 0; i < rowCount; i++) valid[i] = left.valid[i]! & right.valid[i]!;
  return valid;
}

function floatArithmetic(operator: string, left: Column, right: Column, rowCount: number): Column {
  const a = convertColumn(left, 'float');
  const b = convertColumn(right, 'float');
  const values = new Float64Array(rowCount);
  const valid = bothValid(a, b, rowCount);
  if (a.type !== 'float' || b.type !== 'float') return nullColumn('float', rowCount);
  const x = a.values;
  const y = b.values;
  switch (operator) {
    case '+':
      for (let i = 0; i < rowCount; i++) values[i] = x[i]! + y[i]!;
      break;
    case '-':
      for (let i = 0; i < rowCount; i++) values[i] = x[i]! - y[i]!;
      break;
    case '*':
      for (let i = 0; i < rowCount; i++) values[i] = x[i]! * y[i]!;
      break;
    case '/':
      for (let i = 0; i < rowCount; i++) values[i] = y[i] === 0 ? 0 : x[i]! / y[i]!;
      break;
    case '%':
      for (let i = 0; i < rowCount; i++) values[i] = x[i]! % y[i]!;
      break;
    default:
      return nullColumn('float', rowCount);
  }
  return { type: 'float', values, valid };
}

/** Integers, unsigned and booleans: exact, row by row. */
function scalarArithmetic(
  operator: string,
  type: FieldType,
  [left, right]: readonly [Column, Column],
  rowCount: number,
): Column {
  const a = convertColumn(left, type);
  const b = convertColumn(right, type);
  const values: (FieldValue | null)[] = [];
  for (let i = 0; i < rowCount; i++) {
    const x = columnValue(a, i);
    const y = columnValue(b, i);
    if (x === null || y === null) values.push(null);
    else if (typeof x === 'boolean') values.push(booleanOperation(operator, x, y === true));
    else if (typeof x === 'bigint' && typeof y === 'bigint') {
      values.push(wrapInteger(type, integerOperation(operator, x, y)));
    } else if (typeof x === 'string' && typeof y === 'string') values.push(x + y);
    else values.push(null);
  }
  return columnFrom(type, values);
}

function booleanOperation(operator: string, x: boolean, y: boolean): boolean {
  if (operator === '&') return x && y;
  if (operator === '|') return x || y;
  return x !== y;
}

/** AND and OR treat null as false. */
function logical(operator: 'AND' | 'OR', left: Column, right: Column, rowCount: number): Column {
  const a = truth(left, rowCount);
  const b = truth(right, rowCount);
  const values = new Uint8Array(rowCount);
  if (operator === 'AND') for (let i = 0; i < rowCount; i++) values[i] = a[i]! & b[i]!;
  else for (let i = 0; i < rowCount; i++) values[i] = a[i]! | b[i]!;
  return { type: 'boolean', values, valid: undefined };
}

/** One byte per row: 1 where the column holds true. */
export function truth(column: Column, rowCount: number): Uint8Array {
  if (column.type !== 'boolean') return new Uint8Array(rowCount);
  if (column.valid === undefined) return column.values;
  const values = new Uint8Array(rowCount);
  for (let i = 0; i < rowCount; i++) values[i] = column.values[i]! & column.valid[i]!;
  return values;
}

function comparison(
  operator: ComparisonOperator,
  left: Column,
  right: Column,
  rowCount: number,
): Column {
  const values = new Uint8Array(rowCount);
  if (left.type === 'float' && right.type === 'float') {
    const valid = bothValid(left, right, rowCount);
    for (let i = 0; i < rowCount; i++) {
      if (valid !== undefined && valid[i] !== 1) continue;
      values[i] = compareValues(left.values[i]!, operator, right.values[i]!) ? 1 : 0;
    }
    return { type: 'boolean', values, valid: undefined };
  }
  for (let i = 0; i < rowCount; i++) {
    const x = columnValue(left, i);
    const y = columnValue(right, i);
    if (x !== null && y !== null && compareValues(x, operator, y)) values[i] = 1;
  }
  return { type: 'boolean', values, valid: undefined };
}

function evaluateRegex(
  node: Extract<ValueExpression, { kind: 'regex' }>,
  context: EvaluationContext,
): Column {
  const operand = evaluate(node.operand, context);
  const values = new Uint8Array(context.rowCount);
  if (operand.type === 'string') {
    const matches = textMatcher(node.pattern);
    const { codes, texts, valid } = operand;
    const isWanted = node.operator === '=~';
    // Computed once per text of these rows. 2 means not computed.
    const outcome = new Uint8Array(textCount(texts)).fill(2);
    for (let i = 0; i < context.rowCount; i++) {
      if (valid !== undefined && valid[i] !== 1) continue;
      const code = codes[i]!;
      let holds = outcome[code]!;
      if (holds === 2) {
        holds = matches(textAt(texts, code)) === isWanted ? 1 : 0;
        outcome[code] = holds;
      }
      values[i] = holds;
    }
  }
  return { type: 'boolean', values, valid: undefined };
}
