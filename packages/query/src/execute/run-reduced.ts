// Executes a SELECT with functions: windows that the source has calculated, and rows for the other
// calls, go into the calls of their group.
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
import type { ScanOptions } from '../scan/scan-measurement.ts';

type ReducedPlan = RowsPlan & { readonly kind: 'reduced' };

/** Rows of the answer. */
export function* runReduced(
  { select, folded, rows, takesWholeGroups }: ReducedPlan,
  execution: ExecutionContext,
  execute: Execute,
): Operator<RowBatch> {
  const calls = new CallsPlan(select);
  const windows = folded.map((each) => aggregateMeasurements(each, calls, execution));
  if (takesWholeGroups) {
    yield* wholeGroups(windows[0]!, calls, execution);
    return;
  }
  const open = new OpenGroup(calls, execution, rows);
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
    return this.#ends?.isOver === true;
  }

  rows(): Operator<RowBatch> {
    const { select, sources, ranked } = this.#rows;
    const { maxSelectPoints, maxSelectSeries } = this.#execution.query.limits;
    const countsAll = maxSelectPoints > 0 || maxSelectSeries > 0;
    const options: ScanOptions = {
      range: new CallsPlan(select).rangeOfAll(),
      limitPerSeries: undefined,
      ranked: countsAll ? undefined : ranked,
    };
    const opening = { select, sources, options, ending: this.#ending };
    const opened = openRows(opening, this.#execution, this.#execute);
    const ends = this.#ends;
    return ends === undefined ? opened : mapBatches(opened, (batch) => ends.apply(batch));
  }
}
