// Groups of aggregates that the source delivers complete: one batch without missing windows. They
// need no queues, no filling and no merge of calls; other groups do.
import type { Column } from '@tidemark/core';
import { MIN_TIME } from '@tidemark/core';

import type { RowBatch } from '../batch/row-batch.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { BATCH_ROWS } from '../limits.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { AggregatedGroup } from '../scan/aggregate-measurement.ts';
import { validRows } from '../scan/aggregate-measurement.ts';
import { evaluate } from '../project/evaluate.ts';
import type { CallsPlan } from '../plan/calls-plan.ts';
import { OpenGroup } from './open-group.ts';

/** Rows of the answer, for plans in which a group may come whole. */
export function* wholeGroups(
  windows: Operator<AggregatedGroup>,
  calls: CallsPlan,
  execution: ExecutionContext,
): Operator<RowBatch> {
  const groups = new WholeGroups(calls, execution);
  yield* flatMapBatches(windows, (batch) => groups.push(batch));
  yield* groups.finish();
}

class WholeGroups {
  readonly #calls: CallsPlan;
  readonly #execution: ExecutionContext;
  readonly #span: WindowSpan | undefined;
  readonly #open: OpenGroup;
  /** The first batch of a group, while it is the only one. */
  #first: AggregatedGroup | undefined;

  constructor(calls: CallsPlan, execution: ExecutionContext) {
    this.#calls = calls;
    this.#execution = execution;
    this.#span = filledSpan(calls);
    this.#open = new OpenGroup(calls, execution);
  }

  *push(batch: AggregatedGroup): Operator<RowBatch> {
    const first = this.#first;
    if (first !== undefined) {
      this.#first = undefined;
      yield* first.group === batch.group ? this.#open.pushWindows(first) : this.#rows(first);
    }
    if (this.#open.isIn(batch.group)) {
      yield* this.#open.pushWindows(batch);
    } else {
      yield* this.#open.finish();
      this.#first = batch;
    }
  }

  *finish(): Operator<RowBatch> {
    if (this.#first !== undefined) yield* this.#rows(this.#first);
    yield* this.#open.finish();
  }

  /** The rows of a group of one batch. */
  *#rows(group: AggregatedGroup): Operator<RowBatch> {
    const { plan } = this.#calls;
    const rows = this.#execution.time('evaluate whole groups', plan, () =>
      wholeRows(group, this.#calls, this.#span),
    );
    if (rows === undefined) yield* this.#open.pushWindows(group);
    else yield rows;
  }
}

/**
 * The rows of a group of one batch, when every window has a point in every call and none is
 * missing.
 */
function wholeRows(
  { group, windowStarts, calls }: AggregatedGroup,
  { plan, wholeStamp, keepsPointTime }: CallsPlan,
  span: WindowSpan | undefined,
): RowBatch | undefined {
  const rowCount = windowStarts.length;
  if (rowCount * plan.outputs.length > BATCH_ROWS) return undefined;
  if (span !== undefined && !isFilled(windowStarts, span)) return undefined;
  const inputs: Column[] = [];
  for (const windows of calls) {
    if (windows === undefined) return undefined;
    const { values } = windows;
    if ('counts' in windows || validRows(values, rowCount) !== undefined) return undefined;
    inputs.push(values.valid === undefined ? values : { ...values, valid: undefined });
  }
  let times = windowStarts;
  if (plan.interval === undefined) times = new BigInt64Array(rowCount).fill(wholeStamp);
  const [first] = calls;
  if (keepsPointTime && first !== undefined && 'pointTimes' in first) {
    times = first.pointTimes ?? times;
  }
  const context = { columns: inputs, rowCount, isCondition: false };
  const columns = plan.outputs.map(({ expression }) => evaluate(expression, context));
  return { group, times, columns };
}

/** The windows that fill() makes for a group with a point; `first` is the earliest known start. */
type WindowSpan = {
  readonly first: bigint | undefined;
  readonly last: bigint;
  readonly everyNanos: bigint;
  readonly descending: boolean;
};

/** `undefined` if nothing is filled. */
function filledSpan(calls: CallsPlan): WindowSpan | undefined {
  const { plan, windows } = calls;
  if (windows === undefined || plan.fill.kind === 'none') return undefined;
  const range = calls.rangeOfAll();
  return {
    first: range.start === MIN_TIME ? undefined : windows.of(range.start).start,
    last: windows.of(range.end).start,
    everyNanos: windows.everyNanos,
    descending: plan.descending,
  };
}

/**
 * Whether windows follow each other over the whole span: starts are in order, so counting is
 * enough.
 */
function isFilled(
  starts: BigInt64Array,
  { first, last, everyNanos, descending }: WindowSpan,
): boolean {
  const count = starts.length;
  if (count === 0) return false;
  const earliest = starts[descending ? count - 1 : 0]!;
  const latest = starts[descending ? 0 : count - 1]!;
  if (latest !== last || (first !== undefined && earliest !== first)) return false;
  return latest - earliest === BigInt(count - 1) * everyNanos;
}
