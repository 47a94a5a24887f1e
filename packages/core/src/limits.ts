// Limits are data: every bounded queue, buffer, recursion and result is listed in a package's limits.ts.

/** A named bound. `setting` is the configuration key that an error message tells the user to raise. */
export type Limit = {
  readonly setting: string;
  readonly value: number;
  readonly unit: 'bytes' | 'count' | 'ms' | 'rows' | 'levels';
  readonly reason: string;
};
