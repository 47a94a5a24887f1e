// Lambdas while a script is evaluated: identifiers are replaced by the values which they have at that moment.
import { unreachable } from '@tidemark/core';
import type { ExpressionNode } from '@tidemark/tickscript';
import { EvaluationFailure } from './failure.ts';
import type { Scope } from './scope.ts';
import { literalOf, typeName } from './value.ts';

/** The expression without identifiers. Throws `EvaluationFailure` for unknown names and for nodes. */
export function substitute(node: ExpressionNode, scope: Scope): ExpressionNode {
  switch (node.kind) {
    case 'boolean':
    case 'integer':
    case 'float':
    case 'string':
    case 'duration':
    case 'regex':
    case 'star':
    case 'reference':
      return node;
    case 'identifier': {
      const value = scope.get(node.name, node.span);
      const literal = literalOf(value);
      if (literal !== undefined) return { ...literal, span: node.span };
      const text = `unsupported literal type ${typeName(value)}`;
      throw new EvaluationFailure('TICK_NO_LITERAL', text, {
        span: node.span,
        isPositioned: false,
      });
    }
    case 'unary':
      return { ...node, operand: substitute(node.operand, scope) };
    case 'binary':
      return { ...node, left: substitute(node.left, scope), right: substitute(node.right, scope) };
    case 'function':
      return { ...node, arguments: node.arguments.map((each) => substitute(each, scope)) };
    case 'lambda':
      return { ...node, expression: substitute(node.expression, scope) };
    case 'list':
      return { ...node, items: node.items.map((each) => substitute(each, scope)) };
    case 'chain': {
      const text = 'nodes cannot be part of an expression';
      throw new EvaluationFailure('TICK_NO_LITERAL', text, { span: node.span, isPositioned: true });
    }
    default:
      return unreachable(node);
  }
}

/** The expression with embedded lambdas as plain parts of it: text that can be given to a var again. */
export function inlineLambdas(node: ExpressionNode): ExpressionNode {
  switch (node.kind) {
    case 'lambda': {
      const expression = inlineLambdas(node.expression);
      return expression.kind === 'binary' ? { ...expression, isParenthesized: true } : expression;
    }
    case 'unary':
      return { ...node, operand: inlineLambdas(node.operand) };
    case 'binary':
      return { ...node, left: inlineLambdas(node.left), right: inlineLambdas(node.right) };
    case 'function':
      return { ...node, arguments: node.arguments.map(inlineLambdas) };
    default:
      return node;
  }
}
