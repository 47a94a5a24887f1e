// From the rows of a plan to the series of an answer.
import { columnValue } from '@tidemark/core';

import type { RowBatch, RowStream } from '../batch/row-batch.ts';
import type { Pace } from './pace.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { isText } from './row-defaults.ts';
import type { MixedValue, ResultBatch, ResultColumn } from '../result.ts';

/** Rows of short groups side by side, in the order of the answer. */
export type RowLists = AsyncIterable<readonly RowBatch[]>;

/** A list is sent on when it has so many batches, or a batch of so many rows. */
export const LIST_BATCHES = 64;

/** Batches that follow each other at once as lists; nothing waits for longer than a slice. */
export async function* inLists(rows: RowStream, pace: Pace): RowLists {
  let list: RowBatch[] = [];
  for await (const batch of rows) {
    list.push(batch);
    if (list.length < LIST_BATCHES && batch.times.length < LIST_BATCHES && !pace.isDue) continue;
    yield list;
    list = [];
  }
  if (list.length > 0) yield list;
}

/** Result batches of a plan's rows. */
export async function* toResults(
  rows: RowLists,
  plan: SelectPlan,
): AsyncIterable<readonly ResultBatch[]> {
  const columns = [plan.timeColumnName, ...plan.outputs.map((output) => output.name)];
  let last: RowBatch['group'] | undefined;
  let tags: ReadonlyMap<string, string> | undefined;
  const toResult = (batch: RowBatch): ResultBatch => {
    const { group, times } = batch;
    const isContinuation = group === last;
    if (!isContinuation) {
      tags =
        plan.dimensions.length === 0
          ? undefined
          : new Map(plan.dimensions.map((name, i) => [name, group.tags[i] ?? '']));
      last = group;
    }
    return {
      name: group.name,
      tags,
      columns,
      rowCount: times.length,
      values: [{ type: 'time', values: times, valid: undefined }, ...resultColumns(batch, plan)],
      isContinuation,
      timeZone: plan.zone?.name,
    };
  };
  for await (const list of rows) {
    yield list.filter((batch) => batch.times.length > 0).map(toResult);
  }
}

/** fill(number) puts the number into columns of texts too, which have no type then. */
function resultColumns(batch: RowBatch, plan: SelectPlan): readonly ResultColumn[] {
  const { fill } = plan;
  if (fill.kind !== 'number') return batch.columns;
  return batch.columns.map((column, i): ResultColumn => {
    const expression = plan.outputs[i]?.expression;
    if (expression?.kind !== 'column' || column.valid === undefined || !isText(column.type))
      return column;
    const values: MixedValue[] = [];
    for (let row = 0; row < batch.times.length; row++) {
      values.push(columnValue(column, row) ?? fill.value);
    }
    return { type: 'mixed', values };
  });
}
