// Executes a SELECT with functions: windows that the source has calculated, and rows for the other
// calls, go into the calls of their group.
import { AssertionFailed } from '@tidemark/core';
import { isSubquery } from '@tidemark/influxql';

import type { RowBatch } from '../batch/row-batch.ts';
import { flatMapBatches, mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import { CallsPlan } from '../plan/calls-plan.ts';
import type { CallRows, RowsPlan } from '../plan/physical-plan.ts';
import { OpenGroup } from '../reduce/open-group.ts';
import { wholeGroups } from '../reduce/whole-groups.ts';
import { aggregateMeasurements } from '../scan/aggregate-measurement.ts';
import type { AggregatedGroup } from '../scan/aggregate-measurement.ts';
import { mergeGroups } from '../scan/merge-groups.ts';
import { openRows } from '../scan/open-rows.ts';
import type { Execute } from '../scan/open-rows.ts';
import { endingInputs, StopOutOfRange } from '../scan/stop-out-of-range.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { withinGroup } from '../scan/scan-measurement.ts';

type ReducedPlan = RowsPlan & { readonly kind: 'reduced' };

/** Rows of the answer. */
export function* runReduced(
  { select, folded, rows, takesWholeGroups }: ReducedPlan,
  execution: ExecutionContext,
  execute: Execute,
): Operator<RowBatch> {
  const calls = new CallsPlan(select);
  const windows = folded.map((each) => {
    const aggregated = aggregateMeasurements(each, calls, execution);
    const { ifTied } = each;
    if (ifTied === undefined) return aggregated;
    return flatMapBatches(aggregated, (batch) => orRows(batch, ifTied, execution));
  });
  if (takesWholeGroups) {
    yield* wholeGroups(aggregateMeasurements(folded[0]!, calls, execution), calls, execution);
    return;
  }
  const open = new OpenGroup(calls, execution, rows ?? folded.find(({ ifTied }) => ifTied)?.ifTied);
  const opened = rows && new OpenedRows(rows, execution, execute);
  const streams: Operator<AggregatedGroup | RowBatch>[] = [...windows];
  if (opened !== undefined) streams.push(opened.rows());
  // The windows of a group come before its rows.
  const merged = streams.length === 1 ? streams[0]! : mergeGroups(streams, select);
  yield* flatMapBatches(
    merged,
    (batch) => ('windowStarts' in batch ? open.pushWindows(batch) : open.pushRows(batch)),
    () => opened?.isOver === true,
  );
  yield* open.finish();
}

/** The windows of a batch, or the rows of its group where the best rows are tied. */
function* orRows(
  batch: AggregatedGroup,
  { select, sources, ...rows }: CallRows,
  execution: ExecutionContext,
): Operator<AggregatedGroup | RowBatch> {
  if (batch.isTied !== true) {
    yield batch;
    return;
  }
  const { group } = batch;
  const measured = sources.sources.filter(
    ({ source }) => isSubquery(source) || source.measurement.measurement === group.name,
  );
  const ofGroup = {
    ...rows,
    select: withinGroup(select, group),
    sources: { ...sources, sources: measured },
  };
  const opened = new OpenedRows(ofGroup, execution, neverExecuted).rows();
  yield* mapBatches(opened, (each) => ({ ...each, group }));
}

/** Only measurements are folded. */
function neverExecuted(): never {
  throw new AssertionFailed('the rows of a group come from a measurement');
}

/** The rows of the calls that are calculated here. */
class OpenedRows {
  readonly #rows: CallRows;
  readonly #execution: ExecutionContext;
  readonly #execute: Execute;
  readonly #ending: ReturnType<typeof endingInputs> | undefined;
  readonly #ends: StopOutOfRange | undefined;

  constructor(rows: CallRows, execution: ExecutionContext, execute: Execute) {
    this.#rows = rows;
    this.#execution = execution;
    this.#execute = execute;
    this.#ending = rows.stopsOutOfRange ? endingInputs(rows.select) : undefined;
    this.#ends = this.#ending && new StopOutOfRange(rows.select, this.#ending.ofAll);
  }

  /** Whether no later rows can count. */
  get isOver(): boolean {
    return this.#ends?.isOver === true && this.#ending?.endless.length === 0;
  }

  rows(): Operator<RowBatch> {
    const { select, sources, anyOrder } = this.#rows;
    const range = new CallsPlan(select).rangeOfAll();
    const options = { range, limitPerSeries: undefined, anyOrder };
    const opening = { select, sources, options, ending: this.#ending };
    const opened = openRows(opening, this.#execution, this.#execute);
    const ends = this.#ends;
    return ends === undefined ? opened : mapBatches(opened, (batch) => ends.apply(batch));
  }
}
