// combine: pairs points of one group and time with each other.
import type { LambdaSpec } from '../pipeline.ts';

export type CombineOptions = {
  readonly expressions: readonly LambdaSpec[];
  readonly as: readonly string[];
  readonly delimiter: string;
  readonly toleranceNanos: bigint;
  readonly max: bigint;
};
