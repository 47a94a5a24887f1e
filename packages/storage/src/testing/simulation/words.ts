// Rows and errors in the words of a history.

/** Rows by name, in the order of their names. */
export function describeRows(rows: ReadonlyMap<string, number>): string {
  return [...rows]
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('; ');
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}

/** For `JSON.stringify`: errors with their stacks, and 64-bit integers. */
export function printable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return String(value.stack);
  return typeof value === 'bigint' ? String(value) : value;
}
