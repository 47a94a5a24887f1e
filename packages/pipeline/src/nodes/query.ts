// query: asks the database on a schedule; each result series is a batch.

/** A dimension of `groupBy`. `invalid` is found when the task starts, as recorded. */
export type QueryDimension =
  | { readonly kind: 'time'; readonly lengthNanos: bigint; readonly offsetNanos: bigint }
  | { readonly kind: 'tag'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'invalid'; readonly typeName: string };

export type QueryFill =
  | { readonly kind: 'null' | 'none' | 'previous' | 'linear' }
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'invalid'; readonly text: string };

export type QueryOptions = {
  readonly text: string;
  readonly periodNanos: bigint;
  readonly everyNanos: bigint;
  readonly cron: string;
  readonly isAligned: boolean;
  readonly offsetNanos: bigint;
  readonly isGroupAligned: boolean;
  readonly dimensions: readonly QueryDimension[];
  readonly isGroupedByMeasurement: boolean;
  readonly fill: QueryFill | undefined;
  /** Empty is the default cluster. */
  readonly cluster: string;
};
