// movingAverage: mean of the last values.
import { movingAverageNode } from '@tidemark/pipeline';
import type { Value } from '../data/schema.ts';
import { implement } from '../implement.ts';
import { NUMBERS } from '../influxql/aggregate.ts';
import type { Streaming } from '../node-parts/streaming-node.ts';
import { StreamingNode } from '../node-parts/streaming-node.ts';

export const runningMovingAverage = implement(
  movingAverageNode,
  (ctx) => new StreamingNode(ctx, movingAverage(Number(ctx.options.window))),
);

/** Mean of the last n values, once there are n. */
function movingAverage(window: number): Streaming<{ values: Value[]; sum: number | bigint }> {
  return {
    types: NUMBERS,
    init: () => ({ values: [], sum: 0 }),
    next: (state, sample) => {
      state.values.push(sample.value);
      if (state.values.length > window) state.values.shift();
      if (state.values.length < window) return undefined;
      // Summed again: subtracting the oldest value would accumulate rounding errors.
      let sum = 0;
      for (const value of state.values) sum += Number(value);
      return { type: 'float', value: sum / window };
    },
  };
}
