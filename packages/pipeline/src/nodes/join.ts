// join: merges points of several parents by group and time.

/** `invalid` is found when the task starts, as recorded. */
export type JoinFill =
  | { readonly kind: 'none' | 'null' }
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'invalid'; readonly text: string };

export type JoinOptions = {
  /** One prefix per parent. */
  readonly as: readonly string[];
  readonly on: readonly string[];
  readonly delimiter: string;
  readonly toleranceNanos: bigint;
  /** `undefined`: inner join. */
  readonly fill: JoinFill | undefined;
  /** Empty: name of the first present parent's point. */
  readonly streamName: string;
  readonly isDeletingAll: boolean;
};
