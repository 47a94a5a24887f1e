// Static check of a lambda: operand types which are known without a point (literals, comparisons,
// logical operations) are checked once, with the recorded texts. Types of references and calls are
// only known per point.
import { unreachable } from '@tidemark/core';
import type { Span } from '@tidemark/core';
import type { ExpressionNode } from '../ast.ts';
import { formatExpression } from '../formatter.ts';
import { MAX_DIAGNOSTICS } from '../limits.ts';
import {
  acceptedLeft,
  acceptedOperands,
  acceptedRight,
  binaryResultType,
  binaryTypeError,
  isAlwaysBoolean,
  TIME_HINT,
  unaryResultType,
} from './types.ts';
import type { LambdaType } from './types.ts';

/** Operands that never fit, whatever the point. */
export type LambdaDiagnostic = {
  /**
   * The text that existing tools know, without the prefix which the node adds (`Failed to compile 0
   * expression: `).
   */
  readonly text: string;
  /** The operand that does not fit. */
  readonly span: Span;
  readonly found: LambdaType | undefined;
  readonly expected: readonly LambdaType[];
  readonly hint: string | undefined;
};

export type LambdaCheck = {
  /** `undefined` if it depends on the point, or if a part of the expression is invalid. */
  readonly type: LambdaType | undefined;
  /** In evaluation order; existing tools see the first. */
  readonly problems: readonly LambdaDiagnostic[];
};

const NO_PROBLEMS: readonly LambdaDiagnostic[] = [];

/** Checks an expression without identifiers. Returns all errors. */
export function checkLambda(node: ExpressionNode): LambdaCheck {
  switch (node.kind) {
    case 'boolean':
      return known('boolean');
    case 'integer':
      return known('int');
    case 'float':
    case 'string':
    case 'regex':
    case 'duration':
      return known(node.kind);
    case 'reference':
      return known(node.name === 'time' ? 'time' : undefined);
    case 'lambda':
      return checkLambda(node.expression);
    case 'function':
      return checkCall(node);
    case 'unary':
      return checkUnary(node);
    case 'binary':
      return checkBinary(node);
    case 'star':
    case 'list':
    case 'identifier':
    case 'chain':
      return refused({
        text: `a ${node.kind} cannot be part of a lambda expression`,
        span: node.span,
        found: undefined,
        expected: [],
        hint: undefined,
      });
    default:
      return unreachable(node);
  }
}

function known(type: LambdaType | undefined): LambdaCheck {
  return { type, problems: NO_PROBLEMS };
}

function refused(problem: LambdaDiagnostic): LambdaCheck {
  return { type: undefined, problems: [problem] };
}

/** Findings of a part, in terms of the whole. */
function within(
  prefix: string,
  problems: readonly LambdaDiagnostic[],
): readonly LambdaDiagnostic[] {
  if (problems.length === 0) return problems;
  return problems.map((problem) => ({ ...problem, text: prefix + problem.text }));
}

function checkCall(node: Extract<ExpressionNode, { kind: 'function' }>): LambdaCheck {
  const problems = node.arguments.flatMap((argument, index) =>
    within(`Failed to handle ${index + 1} argument: `, checkLambda(argument).problems),
  );
  return { type: undefined, problems: problems.slice(0, MAX_DIAGNOSTICS.value) };
}

function checkUnary(node: Extract<ExpressionNode, { kind: 'unary' }>): LambdaCheck {
  const operand = checkLambda(node.operand);
  const problems = within('Failed to handle node: ', operand.problems);
  if (operand.type === undefined) {
    return { type: node.operator === '!' ? 'boolean' : undefined, problems };
  }
  const type = unaryResultType(node.operator, operand.type);
  if (type !== undefined) return known(type);
  return refused({
    text: `invalid unary operator ${node.operator} for type ${operand.type}`,
    ...misfit(node.operand, operand.type, acceptedOperands(node.operator)),
  });
}

function checkBinary(node: Extract<ExpressionNode, { kind: 'binary' }>): LambdaCheck {
  const left = checkLambda(node.left);
  const right = checkLambda(node.right);
  if (left.problems.length + right.problems.length > 0) {
    const problems = [
      ...within('Failed to handle left node: ', left.problems),
      ...within('Failed to handle right node: ', right.problems),
    ];
    const type = isAlwaysBoolean(node.operator) ? 'boolean' : undefined;
    return { type, problems: problems.slice(0, MAX_DIAGNOSTICS.value) };
  }
  if (left.type === undefined || right.type === undefined || isDynamic(node)) {
    return known(isAlwaysBoolean(node.operator) ? 'boolean' : undefined);
  }
  const type = binaryResultType(node.operator, left.type, right.type);
  if (type !== undefined) return known(type);
  const accepted = acceptedRight(node.operator, left.type);
  return refused({
    text: binaryTypeError(node.operator, left.type, right.type),
    ...(accepted.length === 0
      ? misfit(node.left, left.type, acceptedLeft(node.operator))
      : misfit(node.right, right.type, accepted)),
  });
}

/** Operations on `"time"` are refused per point, as recorded, like every reference. */
function isDynamic(node: Extract<ExpressionNode, { kind: 'binary' }>): boolean {
  return [node.left, node.right].some((each) => each.kind === 'reference');
}

/** Longer operands are not repeated in hints. */
const HINT_OPERAND_LENGTH_MAX = 40;

/** Functions that convert any convertible value to a type. */
const CONVERSIONS: readonly LambdaType[] = ['float', 'int', 'string', 'boolean'];

function misfit(
  operand: ExpressionNode,
  found: LambdaType,
  expected: readonly LambdaType[],
): Omit<LambdaDiagnostic, 'text'> {
  const hint = found === 'time' ? TIME_HINT : conversionHint(operand, expected);
  return { span: operand.span, found, expected, hint };
}

function conversionHint(
  operand: ExpressionNode,
  expected: readonly LambdaType[],
): string | undefined {
  const target = CONVERSIONS.find((each) => expected.includes(each));
  if (target === undefined) {
    return expected.includes('regex') ? 'write the pattern between slashes: /pattern/' : undefined;
  }
  const name = target === 'boolean' ? 'bool' : target;
  // The source is measured first, to avoid printing a long operand; the printed text may differ in
  // length.
  const { start, end } = operand.span;
  if (end - start > HINT_OPERAND_LENGTH_MAX) return `convert it with ${name}()`;
  const text = formatExpression(operand);
  return text.length > HINT_OPERAND_LENGTH_MAX
    ? `convert it with ${name}()`
    : `convert it: ${name}(${text})`;
}
