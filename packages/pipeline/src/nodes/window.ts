// window: collects the points of a group by time or by count and emits them as batches.

export type WindowOptions = {
  readonly periodNanos: bigint;
  /** 0 emits on every point. */
  readonly everyNanos: bigint;
  readonly isAligned: boolean;
  readonly isFillingPeriod: boolean;
  readonly periodCount: bigint;
  readonly everyCount: bigint;
};
