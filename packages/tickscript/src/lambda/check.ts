// Static check of a lambda: operand types which are known without a point (literals, comparisons, logical operations)
// are checked once, with the recorded texts. Types of references and calls are only known per point.
import { unreachable } from '@tidemark/core';
import type { ExpressionNode } from '../ast.ts';
import { binaryResultType, binaryTypeError, isAlwaysBoolean, unaryResultType } from './types.ts';
import type { LambdaType } from './types.ts';

/** `type` is `undefined` when only points decide it. */
export type LambdaCheck =
  | { readonly type: LambdaType | undefined; readonly error?: undefined }
  | { readonly error: string; readonly type?: undefined };

/**
 * Checks an expression without identifiers. The error is the text that existing tools know, without the prefix which
 * the node adds (`Failed to compile 0 expression: `).
 */
export function checkLambda(node: ExpressionNode): LambdaCheck {
  switch (node.kind) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
      return { type: 'int' };
    case 'float':
    case 'string':
    case 'regex':
    case 'duration':
      return { type: node.kind };
    case 'reference':
      return { type: node.name === 'time' ? 'time' : undefined };
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
      return { error: `a ${node.kind} cannot be part of a lambda expression` };
    default:
      return unreachable(node);
  }
}

function checkCall(node: Extract<ExpressionNode, { kind: 'function' }>): LambdaCheck {
  for (const [index, argument] of node.arguments.entries()) {
    const { error } = checkLambda(argument);
    if (error !== undefined) return { error: `Failed to handle ${index + 1} argument: ${error}` };
  }
  return { type: undefined };
}

function checkUnary(node: Extract<ExpressionNode, { kind: 'unary' }>): LambdaCheck {
  const operand = checkLambda(node.operand);
  if (operand.error !== undefined) return { error: `Failed to handle node: ${operand.error}` };
  if (operand.type === undefined) return { type: node.operator === '!' ? 'boolean' : undefined };
  const type = unaryResultType(node.operator, operand.type);
  if (type !== undefined) return { type };
  return { error: `invalid unary operator ${node.operator} for type ${operand.type}` };
}

function checkBinary(node: Extract<ExpressionNode, { kind: 'binary' }>): LambdaCheck {
  const left = checkLambda(node.left);
  if (left.error !== undefined) return { error: `Failed to handle left node: ${left.error}` };
  const right = checkLambda(node.right);
  if (right.error !== undefined) return { error: `Failed to handle right node: ${right.error}` };
  if (left.type === undefined || right.type === undefined || isDynamic(node)) {
    return { type: isAlwaysBoolean(node.operator) ? 'boolean' : undefined };
  }
  const type = binaryResultType(node.operator, left.type, right.type);
  if (type !== undefined) return { type };
  return { error: binaryTypeError(node.operator, left.type, right.type) };
}

/** Operations on `"time"` are refused per point, as recorded, like every reference. */
function isDynamic(node: Extract<ExpressionNode, { kind: 'binary' }>): boolean {
  return [node.left, node.right].some((each) => each.kind === 'reference');
}
