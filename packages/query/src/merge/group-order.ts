// The order of result series: by name, then by tag values, bytewise; everything reversed for
// descending queries.
import { compareBytes } from '@tidemark/core';

import type { GroupKey } from '../batch/row-batch.ts';

export function compareGroups(a: GroupKey, b: GroupKey): number {
  const byName = compareBytes(a.name, b.name);
  if (byName !== 0) return byName;
  for (let i = 0; i < a.tags.length; i++) {
    const byTag = compareBytes(a.tags[i]!, b.tags[i]!);
    if (byTag !== 0) return byTag;
  }
  return 0;
}
