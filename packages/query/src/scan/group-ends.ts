// The group that is currently being returned: when it is complete, reading stops at the source of
// its rows.
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

export function isSameGroup(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
