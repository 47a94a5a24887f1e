// difference: difference to the previous value.
import { differenceNode } from '@tidemark/pipeline';
import type { Value } from '../data/schema.ts';
import { implement } from '../implement.ts';
import { NUMBERS } from '../influxql/aggregate.ts';
import type { Streaming } from '../node-parts/streaming-node.ts';
import { StreamingNode } from '../node-parts/streaming-node.ts';

const difference: Streaming<{ time: bigint | undefined; value: Value }> = {
  types: NUMBERS,
  init: () => ({ time: undefined, value: null }),
  next: (state, sample) => {
    const { time, value } = state;
    // A repeated time is ignored, and does not become the previous value.
    if (time === sample.time) return undefined;
    state.time = sample.time;
    state.value = sample.value;
    if (time === undefined) return undefined;
    return { type: sample.type, value: subtract(sample.value, value) };
  },
};

function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return BigInt.asIntN(64, a - (b as bigint));
  return (a as number) - (b as number);
}

export const runningDifference = implement(
  differenceNode,
  (ctx) => new StreamingNode(ctx, difference),
);
