// Safe look-ups by external names, which may be `__proto__` or `constructor`.

/** The table's own value under a name; `undefined` for names that every object inherits. */
export function own<V>(table: Readonly<Record<string, V>>, name: string): V | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
