// Evaluates a predicate for each point of a group, for nodes that count the results.
import type { Point } from '../data/point.ts';
import { EvaluationError } from '../lambda/errors.ts';
import type { Lambda } from '../lambda/lambda.ts';
import type { Frame } from '../lambda/typed.ts';
import type { NodeContext } from '../node.ts';

/** State of a group with a predicate. */
export type PredicateState = { readonly frame: Frame };

/** Lambdas without state of their own share one frame: 50,000 groups need not have 50,000. */
export function frameOf(ctx: NodeContext, lambda: Lambda, shared: Frame): Frame {
  return lambda.isStateful ? lambda.frame(ctx.task.callContext) : shared;
}

/** The result of the predicate; an error is counted and drops the point. */
export function ask(
  ctx: NodeContext,
  lambda: Lambda,
  state: PredicateState,
  point: Point,
): boolean | undefined {
  try {
    return lambda.test(point, state.frame);
  } catch (cause) {
    if (!(cause instanceof EvaluationError)) throw cause;
    ctx.fail('error while evaluating expression', cause.message, point);
    return undefined;
  }
}
