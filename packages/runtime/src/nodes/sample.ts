// sample: keeps every n-th point, or the points at multiples of a duration.
import { sampleNode } from '@tidemark/pipeline';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { StartError } from '../node.ts';
import { MapNode } from '../node-parts/map-node.ts';
import { truncateTime } from '../time-math.ts';

export const runningSample = implement(sampleNode, createSample);

/** Every n-th point of a group (or batch), or the points at exact multiples of a duration. */
function createSample(ctx: ContextOf<typeof sampleNode>): RunningNode {
  const { rate } = ctx.options;
  if ((rate.kind === 'count' ? rate.count : rate.nanos) === 0n) {
    throw new StartError('invalid sample rate: must be positive integer or duration');
  }
  if (rate.kind === 'every') {
    const { nanos } = rate;
    return new MapNode(ctx, {
      isGrouped: true,
      init: () => undefined,
      next: (_, point) => (point.time === truncateTime(point.time, nanos) ? point : undefined),
    });
  }
  const every = Number(rate.count);
  return new MapNode(ctx, {
    isGrouped: true,
    init: () => ({ index: 0 }),
    next: (state, point) => (state.index++ % every === 0 ? point : undefined),
    encode: ({ index }) => index,
    decode: (code) => ({ index: code as number }),
  });
}
