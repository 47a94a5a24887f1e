// Limits are data: every bounded queue, buffer, recursion and result is listed in a package's
// limits.ts.

/** A fixed bound: no setting changes it. */
export type Limit = {
  readonly value: number;
  readonly unit: 'bytes' | 'count' | 'ms' | 'rows' | 'levels';
  readonly reason: string;
};

/**
 * A bound that is the default of a setting. `setting` is its key in the configuration; errors name
 * it as the one to raise.
 */
export type SettingLimit = Limit & { readonly setting: string };
