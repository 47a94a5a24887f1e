// Rows of several sources as one stream: groups in the order of the answer, rows of equal groups
// merged by time.
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { forEachBatch } from '../operator.ts';
import type { Operator } from '../operator.ts';
import { eachGroup } from './each-group.ts';
import type { MergeOptions, SortedRows } from './merge-sorted-rows.ts';
import { mergeSortedRows } from './merge-sorted-rows.ts';

/** Merges streams that are in the order of the answer each. */
export function mergeSources(
  streams: readonly Operator<RowBatch>[],
  options: MergeOptions,
): Operator<RowBatch> {
  const [only] = streams;
  if (streams.length === 1 && only !== undefined) return only;
  return eachGroup(streams, options.descending, (members, group) =>
    mergeGroup(members, group, options),
  );
}

function* mergeGroup(
  members: readonly Operator<RowBatch>[],
  group: GroupKey,
  options: MergeOptions,
): Operator<RowBatch> {
  const [single] = members;
  if (members.length === 1 && single !== undefined) return yield* single;
  const parts: SortedRows[] = [];
  for (const member of members) yield* forEachBatch(member, (batch) => void parts.push(batch));
  yield { group, ...(yield* mergeSortedRows(parts, options)) };
}
