// Windows of groups from several requests: groups in the order of the answer, and in each of them
// the windows of one request after those of another.
import type { GroupKey } from '../batch/row-batch.ts';
import { compareGroups } from '../batch/row-batch.ts';
import { nextBatch } from '../operator.ts';
import type { Operator } from '../operator.ts';

type Grouped = { readonly group: GroupKey };
type Cursor<T> = { readonly from: Operator<T>; head: T | undefined };

/** Each stream has its groups in the order of the answer. Batches of one group share its object. */
export function* mergeGroups<T extends Grouped>(
  streams: readonly Operator<T>[],
  { descending }: { readonly descending: boolean },
): Operator<T> {
  const cursors = streams.map((from): Cursor<T> => ({ from, head: undefined }));
  try {
    for (const cursor of cursors) cursor.head = yield* nextBatch(cursor.from);
    for (;;) {
      const group = nextGroup(cursors, descending);
      if (group === undefined) return;
      for (const cursor of cursors) {
        while (cursor.head !== undefined && compareGroups(cursor.head.group, group) === 0) {
          yield { ...cursor.head, group };
          cursor.head = yield* nextBatch(cursor.from);
        }
      }
    }
  } finally {
    for (const { from } of cursors) from.return();
  }
}

function nextGroup(cursors: readonly Cursor<Grouped>[], descending: boolean): GroupKey | undefined {
  let next: GroupKey | undefined;
  for (const { head } of cursors) {
    if (head === undefined) continue;
    const order = next === undefined ? -1 : compareGroups(head.group, next);
    if (next === undefined || (descending ? order > 0 : order < 0)) next = head.group;
  }
  return next;
}
