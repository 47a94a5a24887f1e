// Series one after the other in a buffer: what a log record brings, without an object for each of them.

/** Consecutive series. `bytes` from `starts[i]` to `ends[i]` are the canonical key of the i-th without the measurement. */
export type SeriesList = {
  readonly count: number;
  readonly measurementIds: Uint32Array;
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
};
