// Lambdas of a pipeline: combining them, and checking them when a task starts.
import { checkLambda, LAMBDA_FUNCTIONS } from '@tidemark/tickscript';
import type { ExpressionNode } from '@tidemark/tickscript';
import { ArgumentFailure } from './evaluate/failure.ts';
import { measureExpression, partsOf } from './evaluate/measure.ts';
import { MAX_EXPRESSION_DEPTH } from './limits.ts';
import type { NodeDiagnostic } from './definition/node-diagnostic.ts';
import type { LambdaSpec } from './pipeline.ts';

/**
 * Both conditions; the order of evaluation is first, then second. Throws `ArgumentFailure` beyond
 * the limit.
 */
export function conjunction(
  first: LambdaSpec | undefined,
  second: LambdaSpec | undefined,
): LambdaSpec | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const [left, right] = [parenthesized(first.expression), parenthesized(second.expression)];
  const expression: ExpressionNode = {
    kind: 'binary',
    operator: 'AND',
    left,
    right,
    isParenthesized: false,
    isMultiLine: false,
    span: { start: left.span.start, end: right.span.end },
  };
  if (measureExpression(expression).depth > MAX_EXPRESSION_DEPTH.value) {
    throw new ArgumentFailure(`too many conditions: ${MAX_EXPRESSION_DEPTH.value} may be joined`);
  }
  return { kind: 'lambda', expression };
}

function parenthesized(node: ExpressionNode): ExpressionNode {
  return node.kind === 'binary' ? { ...node, isParenthesized: true } : node;
}

/**
 * Static type errors with the prefix that recorded texts give them, and the operands that do not
 * fit.
 */
export function checkLambdas(
  list: readonly (readonly [prefix: string, lambda: LambdaSpec | undefined])[],
): readonly NodeDiagnostic[] {
  return list.flatMap(([prefix, lambda]) => {
    const { problems } = lambda === undefined ? NO_LAMBDA : checkLambda(lambda.expression);
    return problems.map(({ text, span, found, expected, hint }) => ({
      code: 'TICK_LAMBDA_TYPE',
      text: prefix + text,
      span,
      found,
      expected,
      hint,
    }));
  });
}

const NO_LAMBDA = { problems: [] } as const;

const stateful = new WeakMap<ExpressionNode, boolean>();

/** Whether its result depends on earlier points. */
export function keepsState(lambda: LambdaSpec | undefined): boolean {
  return lambda !== undefined && callsStateful(lambda.expression);
}

/** Cached per part, as trees share parts (`measureExpression`). */
function callsStateful(node: ExpressionNode): boolean {
  const known = stateful.get(node);
  if (known !== undefined) return known;
  const isOne = node.kind === 'function' && LAMBDA_FUNCTIONS.get(node.name)?.isStateful === true;
  const result = isOne || partsOf(node).some(callsStateful);
  stateful.set(node, result);
  return result;
}
