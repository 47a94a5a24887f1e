// alert: decides a level for each point or batch and publishes events.
import type { HandlerSpec, LambdaSpec } from '../pipeline.ts';

export type AlertInhibit = { readonly category: string; readonly tags: readonly string[] };

export type AlertOptions = {
  readonly info: LambdaSpec | undefined;
  readonly warn: LambdaSpec | undefined;
  readonly crit: LambdaSpec | undefined;
  readonly infoReset: LambdaSpec | undefined;
  readonly warnReset: LambdaSpec | undefined;
  readonly critReset: LambdaSpec | undefined;
  readonly id: string;
  readonly message: string;
  readonly details: string;
  /** Empty: none. */
  readonly topic: string;
  readonly category: string;
  readonly inhibits: readonly AlertInhibit[];
  readonly isForAll: boolean;
  readonly isWithoutRecoveries: boolean;
  readonly isStateChangesOnly: boolean;
  /** 0: no repetition. */
  readonly stateChangesIntervalNanos: bigint;
  readonly flapping: { readonly low: number; readonly high: number } | undefined;
  readonly history: bigint;
  readonly levelTag: string;
  readonly idTag: string;
  readonly levelField: string;
  readonly messageField: string;
  readonly idField: string;
  readonly durationField: string;
  readonly handlers: readonly HandlerSpec[];
};
