// Watches, during a write, whether enough replicas can take writes: a replica that waits for a
// quorum does not report that the others have lost ZooKeeper.
import { messageOf } from '@tidemark/core';

import { Unreachable } from './failure.ts';
import type { ClickHouseNode } from './node.ts';

export type Writers = {
  /** Aborted when too few nodes can take writes; the reason names the failed ones. */
  readonly signal: AbortSignal;
  end(): void;
};

/** Probes all nodes until `end`; `needed` of them have to be able to take writes. */
export function watchWriters(nodes: readonly ClickHouseNode[], needed: number): Writers {
  const tooFew = new AbortController();
  const failures = new Map<ClickHouseNode, unknown>();
  const fail = (node: ClickHouseNode, reason: unknown): void => {
    failures.set(node, reason);
    if (nodes.length - failures.size < needed)
      tooFew.abort(new Unreachable(Array.from(failures.values(), messageOf).join('; ')));
  };
  const waits = nodes.flatMap((node) => {
    try {
      const wait = node.waitToWrite();
      wait.signal.addEventListener('abort', () => fail(node, wait.signal.reason), { once: true });
      return [wait];
    } catch (error) {
      fail(node, error);
      return [];
    }
  });
  return {
    signal: tooFew.signal,
    end: () => {
      for (const wait of waits) wait.end();
    },
  };
}
