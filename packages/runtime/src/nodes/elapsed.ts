// elapsed: time since the previous point in units.
import { elapsedNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import type { Streaming } from '../node-parts/streaming-node.ts';
import { StreamingNode } from '../node-parts/streaming-node.ts';

export const runningElapsed = implement(
  elapsedNode,
  (ctx) => new StreamingNode(ctx, elapsed(ctx.options.unitNanos)),
);

/** Time since the previous point in units, truncated. */
function elapsed(unitNanos: bigint): Streaming<{ time: bigint | undefined }> {
  // As recorded, an invalid unit means nanoseconds.
  const unit = unitNanos > 0n ? unitNanos : 1n;
  return {
    types: ['float', 'int', 'string', 'boolean'],
    init: () => ({ time: undefined }),
    next: (state, sample) => {
      const previous = state.time;
      state.time = sample.time;
      if (previous === undefined) return undefined;
      return { type: 'int', value: (sample.time - previous) / unit };
    },
  };
}
