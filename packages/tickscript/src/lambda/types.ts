// Types of lambda expressions as data: which operator takes which operands and what comes out.
import type { BinaryOperator, UnaryOperator } from '../ast.ts';

/**
 * Names as error texts print them. `missing`: a reference that is neither field nor tag of the
 * point.
 */
export type LambdaType =
  | 'int'
  | 'float'
  | 'string'
  | 'boolean'
  | 'regex'
  | 'duration'
  | 'time'
  | 'missing';

export const TIME_HINT =
  'times have no operators; take unixNano("time"), hour("time") and the like';

export type OperatorClass = 'logical' | 'comparison' | 'math';

type OperatorRow = {
  readonly left: LambdaType;
  readonly right: LambdaType;
  readonly result: LambdaType;
};

const EQUALITY: readonly BinaryOperator[] = ['==', '!='];
const ORDER: readonly BinaryOperator[] = ['<', '<=', '>', '>='];
const MATCH: readonly BinaryOperator[] = ['=~', '!~'];

/** `operators | left right result`, one row per accepted combination. Anything else is an error. */
const TABLE: readonly (readonly [readonly BinaryOperator[], LambdaType, LambdaType, LambdaType])[] =
  [
    [['AND', 'OR'], 'boolean', 'boolean', 'boolean'],
    [EQUALITY, 'boolean', 'boolean', 'boolean'],
    [[...EQUALITY, ...ORDER], 'string', 'string', 'boolean'],
    [[...EQUALITY, ...ORDER], 'duration', 'duration', 'boolean'],
    [[...EQUALITY, ...ORDER], 'int', 'int', 'boolean'],
    [[...EQUALITY, ...ORDER], 'int', 'float', 'boolean'],
    [[...EQUALITY, ...ORDER], 'float', 'int', 'boolean'],
    [[...EQUALITY, ...ORDER], 'float', 'float', 'boolean'],
    [MATCH, 'string', 'regex', 'boolean'],
    [['+', '-', '*', '/'], 'float', 'float', 'float'],
    [['+', '-', '*', '/', '%'], 'int', 'int', 'int'],
    [['+', '-'], 'duration', 'duration', 'duration'],
    [['*'], 'duration', 'int', 'duration'],
    [['*'], 'int', 'duration', 'duration'],
    [['*'], 'duration', 'float', 'duration'],
    [['*'], 'float', 'duration', 'duration'],
    [['/'], 'duration', 'int', 'duration'],
    [['/'], 'duration', 'float', 'duration'],
    [['/'], 'duration', 'duration', 'int'],
    [['+'], 'string', 'string', 'string'],
  ];

/** Accepted operand types and result of every operator. */
const BINARY_OPERATIONS: ReadonlyMap<BinaryOperator, readonly OperatorRow[]> = groupTable();

function groupTable(): Map<BinaryOperator, OperatorRow[]> {
  const rows = new Map<BinaryOperator, OperatorRow[]>();
  for (const [operators, left, right, result] of TABLE) {
    for (const operator of operators) {
      const list = rows.get(operator) ?? [];
      list.push({ left, right, result });
      rows.set(operator, list);
    }
  }
  return rows;
}

/** Type of `left operator right`; `undefined` for types that do not combine. */
export function binaryResultType(
  operator: BinaryOperator,
  left: LambdaType,
  right: LambdaType,
): LambdaType | undefined {
  const rows = BINARY_OPERATIONS.get(operator) ?? [];
  return rows.find((row) => row.left === left && row.right === right)?.result;
}

/** Type of `operator operand`; `undefined` for an operand of another type. */
export function unaryResultType(
  operator: UnaryOperator,
  operand: LambdaType,
): LambdaType | undefined {
  return acceptedOperands(operator).includes(operand) ? operand : undefined;
}

/** Accepted types on the left of an operator. */
export function acceptedLeft(operator: BinaryOperator): readonly LambdaType[] {
  return [...new Set((BINARY_OPERATIONS.get(operator) ?? []).map((row) => row.left))];
}

/** Accepted types on the right of an operator with this left type; empty if it is not accepted. */
export function acceptedRight(operator: BinaryOperator, left: LambdaType): readonly LambdaType[] {
  const rows = BINARY_OPERATIONS.get(operator) ?? [];
  return rows.filter((row) => row.left === left).map((row) => row.right);
}

/** Accepted types of a unary operator. */
export function acceptedOperands(operator: UnaryOperator): readonly LambdaType[] {
  return operator === '!' ? ['boolean'] : ['int', 'float', 'duration'];
}

export function operatorClass(operator: BinaryOperator): OperatorClass {
  switch (operator) {
    case 'AND':
    case 'OR':
      return 'logical';
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return 'math';
    default:
      return 'comparison';
  }
}

/** Comparisons and logical operations are boolean, whatever their operands turn out to be. */
export function isAlwaysBoolean(operator: BinaryOperator): boolean {
  return operatorClass(operator) !== 'math';
}

/** The recorded text for operands that do not combine. */
export function binaryTypeError(
  operator: BinaryOperator,
  left: LambdaType,
  right: LambdaType,
): string {
  if (acceptedRight(operator, left).length === 0) {
    return `invalid ${operatorClass(operator)} operator ${operator} for type ${left}`;
  }
  return `mismatched type to binary operator. got ${left} ${operator} ${right}. see bool(), int(), float(), string(), duration()`;
}
