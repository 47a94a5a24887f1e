// Rows of everything that FROM names, filtered, in the order of the answer. Recursive for
// subqueries.
import { compareBytes } from '@tidemark/core';

import { sliceRows } from '../batch/row-batch.ts';
import type { RowBatch } from '../batch/row-batch.ts';
import { SLICE_ROWS } from '../limits.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { SelectPlan, SourcePlan } from '../plan/select-plan.ts';
import { mergeSources } from './merge-sources.ts';
import type { RunContext } from './run-context.ts';
import type { ScanOptions } from './scan-measurement.ts';
import { inputTypes, scanMeasurement } from './scan-measurement.ts';
import { scanSubquery } from './scan-subquery.ts';

/** What runs the plan of a subquery. */
export type RunPlan = (plan: SelectPlan, run: RunContext) => Operator<RowBatch>;

/** Rows of all sources, filtered, in the order of the answer. */
export function openRows(
  plan: SelectPlan,
  options: ScanOptions,
  run: RunContext,
  runPlan: RunPlan,
): Operator<RowBatch> {
  const open = (source: SourcePlan): Operator<RowBatch> => {
    return source.kind === 'measurement'
      ? run.operator('merge series', source, scanMeasurement(source, plan, options, run))
      : run.operator(
          'read subquery',
          source,
          scanSubquery(source, plan, runPlan(source.plan, run), run),
        );
  };
  const rows = haveDistinctNames(plan)
    ? oneAfterTheOther(inNameOrder(plan), open)
    : run.operator(
        'merge sources',
        plan,
        mergeSources(plan.sources.map(open), {
          types: inputTypes(plan.inputs),
          descending: plan.descending,
        }),
      );
  return inSlices(rows);
}

/** What was merged as a whole goes on in parts, so that no step behind takes long. */
function* inSlices(rows: Operator<RowBatch>): Operator<RowBatch> {
  for (const batch of rows) {
    if (isPause(batch)) {
      yield batch;
      continue;
    }

    const rowCount = batch.times.length;
    if (rowCount <= SLICE_ROWS) {
      yield batch;
      continue;
    }
    for (let from = 0; from < rowCount; from += SLICE_ROWS) {
      yield sliceRows(batch, from, Math.min(rowCount, from + SLICE_ROWS));
    }
  }
}

/** Measurements with names of their own need no merge: their groups follow each other. */
function* oneAfterTheOther(
  sources: readonly SourcePlan[],
  open: (source: SourcePlan) => Operator<RowBatch>,
): Operator<RowBatch> {
  for (const source of sources) yield* open(source);
}

/** Whether every source is a measurement with a name of its own. */
export function haveDistinctNames(plan: SelectPlan): boolean {
  if (plan.sources.length === 1) return true;
  const names = new Set<string>();
  for (const source of plan.sources) {
    if (source.kind !== 'measurement') return false;
    names.add(source.measurement.measurement);
  }
  return names.size === plan.sources.length;
}

export function inNameOrder(plan: SelectPlan): readonly SourcePlan[] {
  const direction = plan.descending ? -1 : 1;
  const name = (source: SourcePlan): string =>
    source.kind === 'measurement' ? source.measurement.measurement : '';
  return [...plan.sources].sort((a, b) => compareBytes(name(a), name(b)) * direction);
}
