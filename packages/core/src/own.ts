// Look-ups by names that somebody else chose: `__proto__` and `constructor` are names too.

/** The value that a table has under a name; what every object inherits is not in it. */
export function own<V>(table: Readonly<Record<string, V>>, name: string): V | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
