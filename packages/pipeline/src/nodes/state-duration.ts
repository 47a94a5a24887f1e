// stateDuration: how long an expression has been true.
import type { LambdaSpec } from '../pipeline.ts';

export type StateDurationOptions = {
  readonly expression: LambdaSpec | undefined;
  readonly as: string;
  readonly unitNanos: bigint;
};
