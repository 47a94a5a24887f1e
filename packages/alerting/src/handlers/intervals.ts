// Checks of options for kinds with intervals.

export function requirePositive(options: { readonly interval: bigint }): string | undefined {
  return options.interval > 0n ? undefined : 'interval must be greater than zero';
}
