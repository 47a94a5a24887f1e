// flatten: merges points of equal time into one, with tag values in the field names.

export type FlattenOptions = {
  readonly on: readonly string[];
  readonly delimiter: string;
  readonly toleranceNanos: bigint;
  readonly isDroppingOriginalFieldName: boolean;
};
