// sample: keeps every n-th point, or the points at multiples of a duration.

/** Exactly one is not zero, unless the script is refused at start. */
export type SampleOptions = { readonly count: bigint; readonly everyNanos: bigint };
