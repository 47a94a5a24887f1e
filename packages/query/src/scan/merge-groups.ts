// Windows of groups from several requests: groups in the order of the answer, and in each of them
// the windows of one request after those of another.
import type { GroupKey } from '../batch/row-batch.ts';
import { compareGroups } from '../batch/row-batch.ts';
import { flatMapBatches, nextBatch } from '../operator.ts';
import type { Operator } from '../operator.ts';

type Grouped = { readonly group: GroupKey; readonly isTied?: boolean | undefined };
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

/**
 * Batches of whole groups; of a group that is tied in one of them, only that one. `hold` counts
 * memory, with the bytes that a batch has.
 */
export function* tiedAsWhole<T extends Grouped>(
  batches: Operator<T>,
  { bytesOf, hold }: { readonly bytesOf: (batch: T) => number; hold(bytes: number): void },
): Operator<T> {
  let parts: T[] = [];
  let bytes = 0;
  function* push(next?: T): Operator<T> {
    if (next === undefined || parts[0]?.group !== next.group) {
      const tied = parts.find(({ isTied }) => isTied === true);
      hold(-bytes);
      bytes = 0;
      yield* tied === undefined ? parts : [tied];
      parts = [];
    }
    if (next === undefined) return;
    parts.push(next);
    hold(bytesOf(next));
    bytes += bytesOf(next);
  }
  yield* flatMapBatches(batches, push);
  yield* push();
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
