// Rows of everything that FROM names, filtered, in the order of the answer. Recursive for
// subqueries.
import { sliceRows } from '../batch/row-batch.ts';
import type { RowBatch } from '../batch/row-batch.ts';
import { SLICE_ROWS } from '../limits.ts';
import { flatMapBatches, mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { OpenPlan, PhysicalPlan, SourcesPlan } from '../plan/physical-plan.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { mergeSources } from '../merge/merge-sources.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import type { GroupEnds } from './group-ends.ts';
import type { ScanOptions } from './scan-measurement.ts';
import { StopOutOfRange } from './stop-out-of-range.ts';
import type { EndingInputs } from './stop-out-of-range.ts';
import { inputTypes, scanMeasurement } from './scan-measurement.ts';
import { scanSubquery } from './scan-subquery.ts';

/** Executes the plan of a subquery. */
export type Execute = (
  plan: PhysicalPlan,
  execution: ExecutionContext,
  ends: GroupEnds | undefined,
) => Operator<RowBatch>;

type Opening = {
  readonly select: SelectPlan;
  readonly sources: SourcesPlan;
  readonly options: ScanOptions;
  /** Present if subqueries end at the first value outside of the range. */
  readonly ending?: EndingInputs | undefined;
};

/** Rows of all sources, filtered, in the order of the answer. */
export function openRows(
  { select, sources: { kind, sources }, options, ending }: Opening,
  execution: ExecutionContext,
  execute: Execute,
): Operator<RowBatch> {
  const open = (opened: OpenPlan): Operator<RowBatch> => {
    const { source } = opened;
    if (opened.kind === 'scan') {
      return execution.operator(
        'merge series',
        source,
        scanMeasurement(opened, select, options, execution),
      );
    }
    const inner = (ends?: GroupEnds): Operator<RowBatch> => execute(opened.inner, execution, ends);
    const rows = execution.operator(
      'read subquery',
      source,
      scanSubquery(opened.source, select, { ...options, inner }, execution),
    );
    return ending === undefined ? rows : endingRows(rows, select, ending);
  };
  if (kind === 'concat') return inSlices(concat(sources, open));
  const merged = mergeSources(sources.map(open), {
    types: inputTypes(select.inputs),
    descending: select.descending,
  });
  return inSlices(execution.operator('merge sources', select, merged));
}

/** Merged rows of a whole group are passed on in parts, so that no later step takes long. */
function inSlices(rows: Operator<RowBatch>): Operator<RowBatch> {
  return flatMapBatches(rows, slicesOf);
}

function* slicesOf(batch: RowBatch): Operator<RowBatch> {
  const rowCount = batch.times.length;
  if (rowCount <= SLICE_ROWS) {
    yield batch;
    return;
  }
  for (let from = 0; from < rowCount; from += SLICE_ROWS) {
    yield sliceRows(batch, from, Math.min(rowCount, from + SLICE_ROWS));
  }
}

function endingRows(
  rows: Operator<RowBatch>,
  select: SelectPlan,
  { ofSources, ofAll, endless }: EndingInputs,
): Operator<RowBatch> {
  const ends = new StopOutOfRange(select, ofSources);
  return mapBatches(
    rows,
    (batch) => ends.apply(batch),
    () => ends.isOver && ofAll.length + endless.length === 0,
  );
}

/** Measurements with different names need no merge: their groups follow each other. */
function* concat(
  sources: readonly OpenPlan[],
  open: (source: OpenPlan) => Operator<RowBatch>,
): Operator<RowBatch> {
  for (const source of sources) yield* open(source);
}
