// Canonical series keys: `measurement,tag=value,…` with backslash escapes.
import { compareBytes } from '@tidemark/core';

/** Tags of a canonical series key. */
export function tagsOfSeriesKey(key: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  let part = '';
  let name: string | undefined;
  let isMeasurement = true;
  const end = (): void => {
    if (!isMeasurement && name !== undefined) tags.set(name, part);
    isMeasurement = false;
    name = undefined;
    part = '';
  };
  for (let i = 0; i < key.length; i++) {
    const char = key[i]!;
    const next = key[i + 1];
    if (char === '\\' && (next === ',' || next === ' ' || next === '=')) {
      part += next;
      i++;
    } else if (char === ',') end();
    else if (char === '=' && !isMeasurement && name === undefined) {
      name = part;
      part = '';
    } else part += char;
  }
  end();
  return tags;
}

/**
 * The order in which sources list the series of one measurement: tag keys and values one after
 * another, bytewise.
 */
export function compareSeriesKeys(a: string, b: string): number {
  if (a === b) return 0;
  const left = [...tagsOfSeriesKey(a)].flat();
  const right = [...tagsOfSeriesKey(b)].flat();
  for (let i = 0; i < left.length && i < right.length; i++) {
    const order = compareBytes(left[i]!, right[i]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
