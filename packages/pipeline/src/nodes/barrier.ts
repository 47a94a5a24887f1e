// barrier: tells the nodes below that no older data comes.

/** Exactly one of the two is not zero. */
export type BarrierOptions = {
  readonly idleNanos: bigint;
  readonly periodNanos: bigint;
  readonly isDeletingGroup: boolean;
};
