// stats: emits the counters of another node at an interval.

/** `sourceNodeId` is the node whose first edge is counted; it is not a parent. */
export type StatsOptions = {
  readonly sourceNodeId: number;
  readonly intervalNanos: bigint;
  readonly isAligned: boolean;
};
