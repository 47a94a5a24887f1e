// stateCount: for how many consecutive points an expression has been true.
import { stateCountNode } from '@tidemark/pipeline';
import type { FunctionState } from '../lambda/function.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { FieldAdder } from '../node-parts/augment.ts';
import { compileFor } from '../node-parts/compile.ts';
import { CountStates } from '../node-parts/count-states.ts';
import type { Counted } from '../node-parts/count-states.ts';
import { MapNode } from '../node-parts/map-node.ts';
import { ask, frameOf } from '../node-parts/predicate.ts';
import { requiredLambda } from '../node-parts/required-lambda.ts';

export const runningStateCount = implement(stateCountNode, createStateCount);

/** Number of consecutive points for which the expression is true; -1 when it is false. */
function createStateCount(ctx: ContextOf<typeof stateCountNode>): RunningNode {
  const { as } = ctx.options;
  const lambda = compileFor(
    requiredLambda(ctx.options.expression),
    'Failed to compile expression in stateCount',
  );
  const adder = new FieldAdder(as, 'int');
  const shared = lambda.frame(ctx.task.callContext);
  return new MapNode<Counted>(ctx, {
    isGrouped: true,
    init: () => ({ frame: frameOf(ctx, lambda, shared), count: 0 }),
    states: lambda.isStateful ? undefined : new CountStates(ctx.task, shared),
    next: (state, point) => {
      const isTrue = ask(ctx, lambda, state, point);
      if (isTrue === undefined) return undefined;
      state.count = isTrue ? state.count + 1 : 0;
      const value = isTrue ? integerOf(state.count) : -1n;
      return adder.add(point, value);
    },
    encode: ({ count, frame }) => ({ count, states: frame.states }),
    decode: (code) => {
      const { count, states } = code as { count: number; states: FunctionState[] };
      return { count, frame: lambda.restoreFrame(states, ctx.task.callContext) };
    },
  });
}

/** Counts begin at one for every group: small ones are created once and not for each point. */
const SMALL_INTEGERS = Array.from({ length: 1024 }, (_, i) => BigInt(i));

function integerOf(count: number): bigint {
  return SMALL_INTEGERS[count] ?? BigInt(count);
}
