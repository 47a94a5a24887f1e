// The group that is currently being returned: when it is complete, reading stops at the source of
// its rows. Operators know it by its key, which is one object for all of its batches.
import type { GroupKey } from '../batch/row-batch.ts';

/** Passed to the reader of rows by operators that may need only the first rows of each group. */
export class GroupEnds {
  #ended: GroupKey | undefined;

  /** No more rows of the group are needed. */
  end(group: GroupKey): void {
    this.#ended = group;
  }

  /** Groups come one after another, so only the last one counts. */
  isEnded(group: GroupKey): boolean {
    const ended = this.#ended;
    if (ended === undefined || ended.name !== group.name) return false;
    return ended === group || isSameGroup(ended.tags, group.tags);
  }
}

/** The group of that name and these tags: the given one if it is the same. */
export function groupOf(
  group: GroupKey | undefined,
  name: string,
  tags: readonly string[],
): GroupKey {
  return group?.name === name && isSameGroup(group.tags, tags) ? group : { name, tags };
}

function isSameGroup(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
