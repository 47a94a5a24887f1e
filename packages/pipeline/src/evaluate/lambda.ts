// Lambdas while a script is evaluated: identifiers are replaced by their values at that moment.
import { unreachable } from '@tidemark/core';
import type { Span } from '@tidemark/core';
import { checkLambda } from '@tidemark/tickscript';
import type { ExpressionNode, LambdaNode } from '@tidemark/tickscript';
import { EvaluationFailure } from './failure.ts';
import { measureExpression } from './measure.ts';
import type { Scope } from './scope.ts';
import { literalOf, typeName } from './value.ts';

/** Where names are looked up, and the budget for what replaces them. */
export type Substitution = {
  readonly scope: Scope;
  /** Called before an expression of this size is copied; may throw. */
  readonly spend: (nodes: number, span: Span) => void;
};

/**
 * The expression without identifiers. Throws `EvaluationFailure` for unknown names and for nodes.
 */
export function substitute(node: ExpressionNode, substitution: Substitution): ExpressionNode {
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
      const value = substitution.scope.get(node.name, node.span);
      const literal = literalOf(value);
      if (literal?.kind === 'lambda') return embedded(literal, node.span, substitution);
      if (literal !== undefined) return { ...literal, span: node.span };
      const text = `unsupported literal type ${typeName(value)}`;
      throw new EvaluationFailure('TICK_NO_LITERAL', text, {
        span: node.span,
        isPositioned: false,
      });
    }
    case 'unary':
      return checkedUnary({ ...node, operand: substitute(node.operand, substitution) });
    case 'binary':
      return {
        ...node,
        left: substitute(node.left, substitution),
        right: substitute(node.right, substitution),
      };
    case 'function':
      return { ...node, arguments: node.arguments.map((each) => substitute(each, substitution)) };
    case 'lambda':
      return { ...node, expression: substitute(node.expression, substitution) };
    case 'list':
      return { ...node, items: node.items.map((each) => substitute(each, substitution)) };
    case 'chain': {
      const text = 'nodes cannot be part of an expression';
      throw new EvaluationFailure('TICK_NO_LITERAL', text, { span: node.span, isPositioned: true });
    }
    default:
      return unreachable(node);
  }
}

/**
 * A copy for every use: each has its own state for stateful functions, which are identified by
 * their nodes.
 */
function embedded(lambda: LambdaNode, span: Span, { spend }: Substitution): ExpressionNode {
  spend(measureExpression(lambda.expression).nodes, span);
  return { ...lambda, expression: copyOf(lambda.expression), span };
}

function copyOf(node: ExpressionNode): ExpressionNode {
  switch (node.kind) {
    case 'unary':
      return { ...node, operand: copyOf(node.operand) };
    case 'binary':
      return { ...node, left: copyOf(node.left), right: copyOf(node.right) };
    case 'function':
      return { ...node, arguments: node.arguments.map(copyOf) };
    case 'lambda':
      return { ...node, expression: copyOf(node.expression) };
    default:
      return node;
  }
}

/** A copy whose parts all lie at one place of the script. */
export function placedAt(node: ExpressionNode, span: Span): ExpressionNode {
  switch (node.kind) {
    case 'unary':
      return { ...node, span, operand: placedAt(node.operand, span) };
    case 'binary': {
      const [left, right] = [placedAt(node.left, span), placedAt(node.right, span)];
      return { ...node, span, left, right };
    }
    case 'function':
      return { ...node, span, arguments: node.arguments.map((each) => placedAt(each, span)) };
    case 'lambda':
      return { ...node, span, expression: placedAt(node.expression, span) };
    default:
      return { ...node, span };
  }
}

/**
 * The expression with embedded lambdas as plain parts of it: a text that can be given to a var
 * again.
 */
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

type UnaryNode = Extract<ExpressionNode, { kind: 'unary' }>;

/**
 * Refuses `-TRUE`, `-'a'`, `!5`, `!(1 + 1)` and `-"time"`; operands whose type depends on the point
 * are allowed.
 */
function checkedUnary(node: UnaryNode): UnaryNode {
  const [problem] = checkLambda(node).problems;
  // Errors inside the operand are found when the whole is checked.
  if (problem === undefined || checkLambda(node.operand).problems.length > 0) return node;
  const { text, span, found, expected, hint } = problem;
  const place = { span, isPositioned: true, found, expected, hint };
  throw new EvaluationFailure('TICK_WRONG_OPERAND', text, place);
}
