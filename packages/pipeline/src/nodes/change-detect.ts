// changeDetect: emits a point when one of the fields differs from the last emitted point.

export type ChangeDetectOptions = { readonly fields: readonly string[] };
