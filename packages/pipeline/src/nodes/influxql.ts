// The nodes which apply one function of the query language to a field: count, mean, max, percentile, …

/** Common to all; nodes with further arguments have a type of their own below. The node's `type` names the function. */
export type InfluxqlOptions = {
  readonly field: string;
  /** Name of the result field. */
  readonly as: string;
  readonly isUsingPointTimes: boolean;
};
export type PercentileOptions = InfluxqlOptions & { readonly percentile: number };
/** top and bottom. */
export type TopOptions = InfluxqlOptions & {
  readonly count: bigint;
  readonly fieldsAndTags: readonly string[];
};
export type ElapsedOptions = InfluxqlOptions & { readonly unitNanos: bigint };
export type MovingAverageOptions = InfluxqlOptions & { readonly window: bigint };
/** holtWinters and holtWintersWithFit. */
export type HoltWintersOptions = InfluxqlOptions & {
  readonly forecastCount: bigint;
  readonly season: bigint;
  readonly intervalNanos: bigint;
  readonly isIncludingFit: boolean;
};
