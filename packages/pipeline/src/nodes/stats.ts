// stats: emits the counters of another node at an interval.
import { parameter } from '../evaluate/parameter.ts';
import type { DraftNode } from '../evaluate/draft.ts';
import type { Value } from '../evaluate/value.ts';
import type { Macro, MacroCall } from '../definition/macro.ts';
import { defineNode } from '../definition/node-definition.ts';
import { argument, derivedOption, flagOption } from '../definition/option.ts';
import { noOpNode } from './no-op.ts';

const INTERVAL = parameter('interval', 'duration');
const SUMMARY = 'emits how many points a node has emitted, per group';

export const statsNode = defineNode({
  type: 'stats',
  label: 'stats',
  className: 'StatsNode',
  category: 'source',
  summary: SUMMARY,
  wants: 'any',
  provides: 'stream',
  split: {
    kind: 'all',
    reason: 'counts all groups as one as long as there are none',
    hint: 'leave out |stats() and |deadman(), or do not split the task',
  },
  // Chain methods create it without a parent.
  follows: [],
  isCounting: true,
  options: {
    intervalNanos: argument(0n, INTERVAL, ({ values: [interval] }) =>
      interval?.kind === 'duration' ? interval.nanos : 0n,
    ),
    /** The node whose first edge is counted, which is not a parent; -1 while unknown. */
    sourceNodeId: derivedOption(-1, ({ values: [, source] }) =>
      source?.kind === 'node' ? source.node.id : -1,
    ),
    isAligned: flagOption('align', 'emits at multiples of the interval'),
  },
  validate: ({ intervalNanos }) =>
    intervalNanos <= 0n
      ? { text: 'stats node must have positive interval', hint: 'write a positive duration, 10s' }
      : undefined,
  effects: ({ sourceNodeId }) => ({ counts: sourceNodeId }),
});

/** `node|stats(interval)`: a source of its own. */
export const statsMacro: Macro = {
  name: 'stats',
  summary: SUMMARY,
  parameters: [INTERVAL],
  isEverywhere: true,
  makes: statsNode,
  apply: (call) => addStats(call, { kind: 'duration', nanos: call.values.nanos(0) }),
};

/** Counts what a node emits. A node without children gets one, so that its output is counted. */
export function addStats(
  { graph, source, span }: Omit<MacroCall, 'values'>,
  interval: Value,
): DraftNode {
  const values: Value[] = [interval, { kind: 'node', node: source }];
  const stats = graph.add(statsNode, { parents: [], values, span });
  if (source.children.length === 0) {
    graph.add(noOpNode, { parents: [source], values: [], span });
  }
  return stats;
}
