// Types of expressions in SELECT lists, and the recorded texts for operands that do not fit
// together.
import type { FieldType } from '@tidemark/core';
import type { Binary, Expression } from '@tidemark/influxql';

import { print } from '../print.ts';
import { UNARY_FUNCTIONS } from '../functions/math/functions.ts';
import { invalid } from '../compat-messages.ts';
import type { ValueExpression } from './columns.ts';

/** Type of a math function's result; `undefined` where all results are null. */
export function mathType(name: string, given: readonly ValueExpression[]): FieldType | undefined {
  const numeric = given.every(({ type }) => type !== undefined && isNumeric(type));
  if (!numeric) return undefined;
  return UNARY_FUNCTIONS.get(name)?.keepsType === true ? given[0]?.type : 'float';
}

export function isNumeric(type: FieldType): boolean {
  return type === 'float' || type === 'integer' || type === 'unsigned';
}

const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);

/**
 * Type of a subquery's column as the query around it reads it. Arithmetic of integers has integer
 * results there, including quotients and functions: fractions are lost, as recorded. `undefined`
 * for unknown names.
 */
export function declaredType(expression: ValueExpression): FieldType | undefined {
  switch (expression.kind) {
    case 'binary': {
      const isInteger =
        ARITHMETIC.has(expression.operator) &&
        declaredType(expression.left) === 'integer' &&
        declaredType(expression.right) === 'integer';
      return isInteger ? 'integer' : expression.type;
    }
    case 'math': {
      const [first] = expression.arguments;
      const type = first === undefined ? undefined : declaredType(first);
      // The first argument has the type of the column, even where all results are null: for texts,
      // or with an unknown name.
      return type === undefined || type === 'unsigned' ? expression.type : type;
    }
    case 'column':
      return expression.declared ?? expression.type;
    case 'constant':
    case 'null':
    case 'regex':
      return expression.type;
  }
}

type BinaryOperands = {
  readonly node: Binary;
  readonly left: ValueExpression;
  readonly right: ValueExpression;
  /** Type of a reference as the error text prints it. */
  readonly typeOf: (node: Expression) => string | undefined;
};

/**
 * Type of an arithmetic or logical operator's result; throws the recorded error if the types do not
 * fit.
 */
export function binaryType(operands: BinaryOperands): FieldType | undefined {
  const { node, left, right } = operands;
  const a = operandType(left);
  const b = operandType(right);
  if (a === undefined || b === undefined) return a ?? b;
  const result = resultType(operands, a, b);
  if (result === undefined) throw incompatible(operands, a, b);
  return node.operator === '/' && result === 'integer' ? 'float' : result;
}

function operandType(operand: ValueExpression): FieldType | undefined {
  return operand.kind === 'column' ? declaredType(operand) : operand.type;
}

function resultType(
  { node, left, right }: BinaryOperands,
  a: FieldType,
  b: FieldType,
): FieldType | undefined {
  const { operator } = node;
  const isBitwise = operator === '&' || operator === '|' || operator === '^';
  if (a === 'boolean' && b === 'boolean') return isBitwise ? 'boolean' : undefined;
  if (!isNumeric(a) || !isNumeric(b)) return undefined;
  if (a === 'float' || b === 'float') return isBitwise ? undefined : 'float';
  if (a === b) return a;
  // One is an integer, the other unsigned: only a literal takes the other's type.
  const integer = a === 'integer' ? left : right;
  if (integer.kind === 'constant' && Number(integer.value) >= 0) return 'unsigned';
  throw invalid(
    `type error: ${describe(node.left, left)} ${operator} ${describe(node.right, right)}: ` +
      `cannot use ${operator} between an integer and unsigned, an explicit cast is required`,
    {
      code: 'IQL_TYPE',
      span: node.span,
      hint: 'cast one of them: name::integer or name::unsigned',
    },
  );
}

function describe(node: Expression, value: ValueExpression): string {
  return value.kind === 'column' && node.kind === 'reference'
    ? print({ ...node, cast: value.type })
    : print(node);
}

function incompatible({ node, typeOf }: BinaryOperands, a: FieldType, b: FieldType): Error {
  const text = print(node, (name) => typeOf({ kind: 'reference', name, span: node.span }));
  const typeName = (side: Expression, type: FieldType): string => {
    if (side.kind === 'reference') return side.cast ?? typeOf(side) ?? type;
    const [argument] = side.kind === 'call' ? side.arguments : [];
    const isTag = argument?.kind === 'reference' && typeOf(argument) === 'tag';
    return isTag && type === 'string' ? 'tag' : type;
  };
  return invalid(
    `type error: ${text}: incompatible types: ${typeName(node.left, a)} and ${typeName(node.right, b)}`,
    { code: 'IQL_TYPE', span: node.span },
  );
}
