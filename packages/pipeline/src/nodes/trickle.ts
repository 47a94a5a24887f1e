// trickle: turns batches into single points.

export type TrickleOptions = Readonly<Record<string, never>>;
