// The queries that a batch task would have run between two times, and the databases that a stream
// task reads.
import type { Timestamp } from '@tidemark/core';
import type { QueryNode } from '../batch/query-nodes.ts';
import { firstTickOf, rangeOf, ticksBetween } from '../database/schedule.ts';

export type Tick = {
  readonly node: QueryNode;
  /** Position of the node among the query nodes of its task. */
  readonly index: number;
  readonly tick: Timestamp;
  readonly range: { readonly start: Timestamp; readonly stop: Timestamp };
};

/** Ticks of all query nodes in order of time; at the same time in order of the nodes. */
export function* mergedTicks(
  nodes: readonly QueryNode[],
  span: { readonly start: Timestamp; readonly stop: Timestamp },
): Iterable<Tick> {
  const sources = nodes.map((node, index) => {
    const first = firstTickOf(node.options, node.schedule, span.start);
    const ticks = ticksBetween(node.schedule, span, first)[Symbol.iterator]();
    return { node, index, ticks, next: ticks.next() };
  });
  for (;;) {
    let first: (typeof sources)[number] | undefined;
    for (const source of sources) {
      if (source.next.done === true) continue;
      if (first === undefined || source.next.value < (first.next.value as Timestamp))
        first = source;
    }
    if (first === undefined || first.next.done === true) return;
    const tick = first.next.value;
    yield { node: first.node, index: first.index, tick, range: rangeOf(first.node.options, tick) };
    first.next = first.ticks.next();
  }
}
