// Converts the rows of a plan to result series.
import { columnValue } from '@tidemark/core';

import type { RowBatch } from '../batch/row-batch.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { isText } from '../fill/row-defaults.ts';
import type { MixedValue, ResultBatch, ResultColumn } from '../result.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/** Result batches of a plan's rows. */
export function toResults(rows: Operator<RowBatch>, plan: SelectPlan): Operator<ResultBatch> {
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
  return mapBatches(rows, (batch) => (batch.times.length > 0 ? toResult(batch) : undefined));
}

/** fill(number) also sets the number in columns of texts, which have no type then. */
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
