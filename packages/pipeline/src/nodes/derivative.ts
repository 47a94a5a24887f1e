// derivative: rate of change of a field.

export type DerivativeOptions = {
  readonly field: string;
  readonly as: string;
  readonly unitNanos: bigint;
  readonly isNonNegative: boolean;
};
