// Batches of several streams group by group, in the order of the answer.
import type { GroupKey } from '../batch/row-batch.ts';
import { compareGroups } from '../batch/row-batch.ts';
import { nextBatch } from '../operator.ts';
import type { Operator } from '../operator.ts';

type Grouped = { readonly group: GroupKey };
type Cursor<T> = { readonly from: Operator<T>; head: T | undefined };

/**
 * Calls `work` for each group, with its batches in each stream that has some; they share the
 * group's object. Each stream is in the order of the answer, and is read as `work` pulls its
 * batches, all of which it has to take.
 */
export function* eachGroup<T extends Grouped, U>(
  streams: readonly Operator<T>[],
  descending: boolean,
  work: (members: readonly Operator<T>[], group: GroupKey) => Operator<U>,
): Operator<U> {
  const cursors = streams.map((from): Cursor<T> => ({ from, head: undefined }));
  try {
    for (const cursor of cursors) cursor.head = yield* nextBatch(cursor.from);
    for (;;) {
      const group = nextGroup(cursors, descending);
      if (group === undefined) return;
      const members = cursors.filter((cursor) => isAt(cursor, group));
      yield* work(
        members.map((cursor) => batchesOf(cursor, group)),
        group,
      );
    }
  } finally {
    for (const { from } of cursors) from.return();
  }
}

function* batchesOf<T extends Grouped>(cursor: Cursor<T>, group: GroupKey): Operator<T> {
  while (cursor.head !== undefined && isAt(cursor, group)) {
    yield { ...cursor.head, group };
    cursor.head = yield* nextBatch(cursor.from);
  }
}

function isAt({ head }: Cursor<Grouped>, group: GroupKey): boolean {
  return head !== undefined && compareGroups(head.group, group) === 0;
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
