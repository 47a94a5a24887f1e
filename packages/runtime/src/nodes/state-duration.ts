// stateDuration: how long an expression has been true.
import { stateDurationNode } from '@tidemark/pipeline';
import type { FunctionState } from '../lambda/function.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { FieldAdder } from '../node-parts/augment.ts';
import { compileFor } from '../node-parts/compile.ts';
import { MapNode } from '../node-parts/map-node.ts';
import { ask, frameOf } from '../node-parts/predicate.ts';
import type { PredicateState } from '../node-parts/predicate.ts';
import { requiredLambda } from '../node-parts/required-lambda.ts';

export const runningStateDuration = implement(stateDurationNode, createStateDuration);

/** Time since the expression became true, in units; -1 while it is false. */
function createStateDuration(ctx: ContextOf<typeof stateDurationNode>): RunningNode {
  const { as, unitNanos } = ctx.options;
  const lambda = compileFor(
    requiredLambda(ctx.options.expression),
    'Failed to compile expression in stateDuration',
  );
  const unit = Number(unitNanos);
  const adder = new FieldAdder(as, 'float');
  const shared = lambda.frame(ctx.task.callContext);
  type State = PredicateState & { since: bigint | undefined };
  return new MapNode<State>(ctx, {
    isGrouped: true,
    init: () => ({ frame: frameOf(ctx, lambda, shared), since: undefined }),
    next: (state, point) => {
      const isTrue = ask(ctx, lambda, state, point);
      if (isTrue === undefined) return undefined;
      let value = -1;
      if (isTrue) {
        state.since ??= point.time;
        value = Number(point.time - state.since) / unit;
      } else {
        state.since = undefined;
      }
      return adder.add(point, value);
    },
    encode: ({ since, frame }) => ({ since, states: frame.states }),
    decode: (code) => {
      const { since, states } = code as { since: bigint | undefined; states: FunctionState[] };
      return { since, frame: lambda.restoreFrame(states, ctx.task.callContext) };
    },
  });
}
