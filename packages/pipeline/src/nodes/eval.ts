// eval: computes fields (or tags) from expressions.
import type { LambdaSpec } from '../pipeline.ts';

export type EvalOptions = {
  readonly expressions: readonly LambdaSpec[];
  readonly as: readonly string[];
  /** Results that become tags; each is one of `as`. */
  readonly tags: readonly string[];
  /** `undefined`: only results; empty: everything; else the listed fields. */
  readonly keep: readonly string[] | undefined;
};
