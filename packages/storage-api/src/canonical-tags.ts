// The tags of a point as its series key has them.
import { compareBytes } from '@tidemark/core';

export type TagPair = readonly [key: string, value: string];

/** The tags sorted by key, without empty values; of two with the same key, the last one. */
export function canonicalTags(tags: readonly TagPair[]): TagPair[] {
  const byKey = new Map<string, string>();
  for (const [key, value] of tags) if (value !== '') byKey.set(key, value);
  return [...byKey].sort((a, b) => compareBytes(a[0], b[0]));
}
