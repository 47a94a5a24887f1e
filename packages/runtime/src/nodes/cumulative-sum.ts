// cumulativeSum: running sum.
import { cumulativeSumNode } from '@tidemark/pipeline';
import type { Value } from '../data/schema.ts';
import { implement } from '../implement.ts';
import { NUMBERS } from '../influxql/aggregate.ts';
import type { Streaming } from '../node-parts/streaming-node.ts';
import { StreamingNode } from '../node-parts/streaming-node.ts';

const cumulativeSum: Streaming<{ time: bigint | undefined; sum: Value }> = {
  types: NUMBERS,
  init: () => ({ time: undefined, sum: null }),
  next: (state, sample) => {
    const { value, type } = sample;
    if (typeof value === 'bigint') {
      state.sum = BigInt.asIntN(64, ((state.sum ?? 0n) as bigint) + value);
    } else {
      state.sum = ((state.sum ?? 0) as number) + (value as number);
    }
    state.time = sample.time;
    return { type, value: state.sum };
  },
};

export const runningCumulativeSum = implement(
  cumulativeSumNode,
  (ctx) => new StreamingNode(ctx, cumulativeSum),
);
