// from: selects points of the stream, groups them and truncates or rounds their times.
import type { LambdaSpec } from '../pipeline.ts';
import type { Dimensions } from './dimensions.ts';

export type FromOptions = {
  /** Empty matches any. */
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
  /** Repeated calls are joined by AND. */
  readonly where: LambdaSpec | undefined;
  readonly dimensions: Dimensions;
  readonly isGroupedByMeasurement: boolean;
  readonly truncateNanos: bigint;
  readonly roundNanos: bigint;
};
