// Rows of several sources as one stream: groups in the order of the answer, rows of equal groups merged by time.
import type { RowBatch, RowStream } from '../batch/row-batch.ts';
import { compareGroups } from './group-order.ts';
import type { MergeOptions, Run } from './merge-runs.ts';
import { mergeRuns } from './merge-runs.ts';

type Cursor = { readonly iterator: AsyncIterator<RowBatch>; head: RowBatch | undefined };

/** Merges streams that are in the order of the answer each. */
export async function* mergeSources(
  streams: readonly RowStream[],
  options: MergeOptions,
): RowStream {
  const { descending } = options;
  const [only] = streams;
  if (streams.length === 1 && only !== undefined) {
    yield* only;
    return;
  }
  const cursors: Cursor[] = streams.map((stream) => ({
    iterator: stream[Symbol.asyncIterator](),
    head: undefined,
  }));
  try {
    for (const cursor of cursors) await advance(cursor);
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
          await advance(single);
        }
        continue;
      }
      const runs: Run[] = [];
      for (const member of members) {
        while (member.head !== undefined && compareGroups(member.head.group, group) === 0) {
          runs.push(member.head);
          await advance(member);
        }
      }
      yield { group, ...(await mergeRuns(runs, options)) };
    }
  } finally {
    for (const { iterator } of cursors) await iterator.return?.();
  }
}

async function advance(cursor: Cursor): Promise<void> {
  const next = await cursor.iterator.next();
  cursor.head = next.done === true ? undefined : next.value;
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
