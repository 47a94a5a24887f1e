// Rows of several sources as one stream: groups in the order of the answer, rows of equal groups
// merged by time.
import type { RowBatch } from '../batch/row-batch.ts';
import { compareGroups } from '../batch/row-batch.ts';
import type { MergeOptions, SortedRows } from './merge-sorted-rows.ts';
import { mergeSortedRows } from './merge-sorted-rows.ts';
import { nextBatch } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

type Cursor = { readonly rows: Operator<RowBatch>; head: RowBatch | undefined };

/** Merges streams that are in the order of the answer each. */
export function* mergeSources(
  streams: readonly Operator<RowBatch>[],
  options: MergeOptions,
): Operator<RowBatch> {
  const { descending } = options;
  const [only] = streams;
  if (streams.length === 1 && only !== undefined) {
    yield* only;
    return;
  }
  const cursors: Cursor[] = streams.map((rows) => ({ rows, head: undefined }));
  try {
    for (const cursor of cursors) yield* advance(cursor);
    for (;;) {
      const group = nextGroup(cursors, descending);
      if (group === undefined) return;
      const members = cursors.filter(
        ({ head }) => head !== undefined && compareGroups(head.group, group) === 0,
      );
      const [single] = members;
      if (members.length === 1 && single !== undefined) {
        while (single.head !== undefined && compareGroups(single.head.group, group) === 0) {
          yield { ...single.head, group };
          yield* advance(single);
        }
        continue;
      }
      const parts: SortedRows[] = [];
      for (const member of members) {
        while (member.head !== undefined && compareGroups(member.head.group, group) === 0) {
          parts.push(member.head);
          yield* advance(member);
        }
      }
      yield { group, ...(yield* mergeSortedRows(parts, options)) };
    }
  } finally {
    for (const { rows } of cursors) rows.return();
  }
}

function* advance(cursor: Cursor): Steps {
  cursor.head = yield* nextBatch(cursor.rows);
}

function nextGroup(cursors: readonly Cursor[], descending: boolean) {
  let next: RowBatch['group'] | undefined;
  for (const { head } of cursors) {
    if (head === undefined) continue;
    const order = next === undefined ? -1 : compareGroups(head.group, next);
    if (next === undefined || (descending ? order > 0 : order < 0)) next = head.group;
  }
  return next;
}
