// stats: emits the counters of another node at an interval.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode, flagProperty } from '../node-definition.ts';

/** `sourceNodeId` is the node whose first edge is counted; it is not a parent. */
export type StatsOptions = {
  readonly sourceNodeId: number;
  readonly intervalNanos: bigint;
  readonly isAligned: boolean;
};

/** `sourceNodeId` is filled in when the node is made; -1 until then. */
export const statsNode = defineNode<StatsOptions>({
  type: 'stats',
  label: 'stats',
  className: 'StatsNode',
  category: 'source',
  summary: 'emits how many points a node has emitted, per group',
  wants: 'any',
  provides: 'stream',
  parameters: [parameter('interval', 'duration')],
  create: ({ values: [interval, source] }) => ({
    intervalNanos: interval?.kind === 'duration' ? interval.nanos : 0n,
    sourceNodeId: source?.kind === 'node' ? source.node.id : -1,
    isAligned: false,
  }),
  properties: [flagProperty('align', 'isAligned', 'emits at multiples of the interval')],
  validate: ({ intervalNanos }) =>
    intervalNanos <= 0n
      ? { text: 'stats node must have positive interval', hint: 'write a positive duration, 10s' }
      : undefined,
});
