// derivative: rate of change of a field.
import { derivativeNode } from '@tidemark/pipeline';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { FieldAdder } from '../node-parts/augment.ts';
import { MapNode } from '../node-parts/map-node.ts';

export const runningDerivative = implement(derivativeNode, createDerivative);

/** Rate of change per unit, as a float. */
function createDerivative(ctx: ContextOf<typeof derivativeNode>): RunningNode {
  const { field, as, unitNanos, isNonNegative } = ctx.options;
  const unit = Number(unitNanos);
  const adder = new FieldAdder(as, 'float');
  type State = { time: bigint | undefined; value: number };
  return new MapNode<State>(ctx, {
    isGrouped: true,
    init: () => ({ time: undefined, value: 0 }),
    next: (state, point) => {
      const raw = point.fieldValue(field);
      if (typeof raw !== 'number' && typeof raw !== 'bigint') {
        ctx.fail('cannot perform derivative', 'field is the wrong type', point);
        return undefined;
      }
      const current = Number(raw);
      const { time, value } = state;
      state.time = point.time;
      state.value = current;
      if (time === undefined) return undefined;
      const elapsed = Number(point.time - time);
      if (elapsed === 0) {
        ctx.fail('cannot perform derivative', 'elaspsed time was 0', point);
        return undefined;
      }
      const change = current - value;
      if (isNonNegative && change < 0) return undefined;
      return adder.add(point, change / (elapsed / unit));
    },
    encode: (state) => state,
    decode: (code) => ({ ...(code as State) }),
  });
}
