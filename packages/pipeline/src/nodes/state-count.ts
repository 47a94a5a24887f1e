// stateCount: for how many consecutive points an expression has been true.
import type { LambdaSpec } from '../pipeline.ts';

export type StateCountOptions = {
  readonly expression: LambdaSpec | undefined;
  readonly as: string;
};
