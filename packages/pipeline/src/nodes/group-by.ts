// groupBy: changes the grouping of points or batches.
import type { Dimensions } from './dimensions.ts';

export type GroupByOptions = {
  readonly dimensions: Dimensions;
  /** Tags left out of `*`. */
  readonly exclude: readonly string[];
  readonly isByMeasurement: boolean;
};
