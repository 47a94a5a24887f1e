// Limits are data: every bounded queue, buffer, recursion and result is listed in a package's
// limits.ts.

/** A bound that nothing changes. */
export type Limit = {
  readonly value: number;
  readonly unit: 'bytes' | 'count' | 'ms' | 'rows' | 'levels';
  readonly reason: string;
};

/**
 * A bound that is the default of a setting: the key of the configuration that an error tells the
 * user to raise.
 */
export type SettingLimit = Limit & { readonly setting: string };
