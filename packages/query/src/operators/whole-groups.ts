// Aggregates that the source has finished: a group that came in one batch, without a gap, needs no queues, no filling
// and no merge of leaves. A hundred groups of a dozen windows go through here in lists, where the general way
// (`run-select.ts`) waits a dozen times for each of them.
import type { Column } from '@tidemark/core';
import { MIN_TIME } from '@tidemark/core';

import type { GroupKey, RowBatch, RowStream } from '../batch/row-batch.ts';
import { BATCH_ROWS } from '../limits.ts';
import type { MeasurementPlan, SelectPlan } from '../plan/select-plan.ts';
import type { AggregatedGroup } from './aggregate-measurement.ts';
import { aggregateMeasurement, canPushAggregates, validRows } from './aggregate-measurement.ts';
import { evaluate } from './evaluate.ts';
import { GroupLeaves, LeavesPlan } from './group-leaves.ts';
import { RowDefaults } from './row-defaults.ts';
import type { RunContext } from './run-context.ts';
import type { RowLists } from './run-statement.ts';
import { LIST_BATCHES } from './run-statement.ts';
import { checkLimits, finishGroup, knownRows } from './run-select.ts';
import type { GroupEnd } from './run-select.ts';

/** The rows of a plan whose aggregates the source makes, group by group; `undefined` for other plans. */
export function runWholeGroups(plan: SelectPlan, run: RunContext): RowLists | undefined {
  const [source] = plan.sources;
  if (source?.kind !== 'measurement' || plan.sources.length > 1) return undefined;
  const isCut = plan.limit + plan.offset + plan.seriesLimit + plan.seriesOffset > 0;
  if (isCut || plan.zone !== undefined) return undefined;
  const isPlain = plan.leaves.every(
    (leaf) =>
      leaf.input !== undefined &&
      leaf.fault === undefined &&
      leaf.transformations.length === 0 &&
      leaf.prefetchWindows === 0,
  );
  if (!isPlain || !canPushAggregates(plan, run.query.capabilities)) return undefined;
  return wholeGroups(plan, source, run);
}

async function* wholeGroups(plan: SelectPlan, source: MeasurementPlan, run: RunContext): RowLists {
  await checkLimits(plan, run);
  const leaves = new LeavesPlan(plan);
  const groups = new Groups(leaves, run);
  const { interval } = plan;
  const wanted = {
    range: leaves.range,
    window: interval && { everyNanos: interval.everyNanos, offsetNanos: interval.offsetNanos },
    limitWindows: undefined,
  };
  for await (const batch of aggregateMeasurement(source, plan, wanted, run)) {
    const others = groups.push(batch);
    if (others !== undefined) {
      yield groups.take();
      for await (const rows of others) yield [rows];
    } else if (run.pace.isDue || groups.isFull) {
      yield groups.take();
      await run.pace.turn();
    }
  }
  const others = groups.end();
  yield groups.take();
  if (others !== undefined) for await (const rows of others) yield [rows];
}

/** Tells whole groups from those that go the general way. */
class Groups {
  readonly #leaves: LeavesPlan;
  readonly #run: RunContext;
  readonly #defaults: RowDefaults;
  readonly #span: WindowSpan | undefined;
  #list: RowBatch[] = [];
  #group: GroupKey | undefined;
  /** All that has come of the group, while that is one batch. */
  #only: AggregatedGroup | undefined;
  #parts: GroupLeaves | undefined;

  constructor(leaves: LeavesPlan, run: RunContext) {
    this.#leaves = leaves;
    this.#run = run;
    this.#defaults = new RowDefaults(leaves);
    this.#span = filledSpan(leaves);
  }

  get isFull(): boolean {
    return this.#list.length >= LIST_BATCHES;
  }

  /** The whole groups so far. */
  take(): readonly RowBatch[] {
    const list = this.#list;
    this.#list = [];
    return list;
  }

  /** Rows that have to be waited for, behind those of `take`; they are read before the next call. */
  push(batch: AggregatedGroup): RowStream | undefined {
    const { group } = batch;
    if (group === this.#group) {
      const parts = this.#opened();
      parts.pushAggregates(batch);
      return knownRows(parts, this.#endOf(group));
    }
    const others = this.end();
    this.#group = group;
    this.#only = batch;
    this.#parts = undefined;
    return others;
  }

  /** Ends the present group. As `push`. */
  end(): RowStream | undefined {
    const group = this.#group;
    if (group === undefined) return undefined;
    const rows = this.#only && this.#wholeRows(this.#only);
    if (rows === undefined) return finishGroup(this.#opened(), this.#endOf(group));
    this.#list.push(rows);
    return undefined;
  }

  #endOf(group: GroupKey): GroupEnd {
    return { plan: this.#leaves.plan, group, defaults: this.#defaults, run: this.#run };
  }

  #opened(): GroupLeaves {
    if (this.#parts !== undefined) return this.#parts;
    this.#defaults.startGroup();
    const parts = new GroupLeaves(this.#leaves, this.#run);
    if (this.#only !== undefined) parts.pushAggregates(this.#only);
    this.#only = undefined;
    this.#parts = parts;
    return parts;
  }

  /** The rows of a group, when every window has a point in every leaf and none is missing. */
  #wholeRows({ group, windowStarts, leaves }: AggregatedGroup): RowBatch | undefined {
    const { plan, wholeStamp, keepsPointTime } = this.#leaves;
    const rowCount = windowStarts.length;
    if (rowCount * plan.outputs.length > BATCH_ROWS) return undefined;
    if (this.#span !== undefined && !isFilled(windowStarts, this.#span)) return undefined;
    const inputs: Column[] = [];
    for (const { values } of leaves) {
      if (validRows(values, rowCount) !== undefined) return undefined;
      inputs.push(values.valid === undefined ? values : { ...values, valid: undefined });
    }
    let times = windowStarts;
    if (plan.interval === undefined) times = new BigInt64Array(rowCount).fill(wholeStamp);
    if (keepsPointTime) times = leaves[0]?.pointTimes ?? times;
    const context = { columns: inputs, rowCount, isCondition: false };
    const columns = plan.outputs.map(({ expression }) => evaluate(expression, context));
    return { group, times, columns };
  }
}

/** The windows that fill() makes of a group that has a point; `first` is the earliest start that is known. */
type WindowSpan = {
  readonly first: bigint | undefined;
  readonly last: bigint;
  readonly everyNanos: bigint;
  readonly descending: boolean;
};

/** `undefined` where nothing is filled. */
function filledSpan({ plan, windows, range }: LeavesPlan): WindowSpan | undefined {
  if (windows === undefined || plan.fill.kind === 'none') return undefined;
  return {
    first: range.start === MIN_TIME ? undefined : windows.of(range.start).start,
    last: windows.of(range.end).start,
    everyNanos: windows.everyNanos,
    descending: plan.descending,
  };
}

/** Whether windows follow each other over the whole span: starts are in order, so that counting them tells. */
function isFilled(starts: BigInt64Array, { first, last, everyNanos, descending }: WindowSpan) {
  const count = starts.length;
  if (count === 0) return false;
  const earliest = starts[descending ? count - 1 : 0]!;
  const latest = starts[descending ? 0 : count - 1]!;
  if (latest !== last || (first !== undefined && earliest !== first)) return false;
  return latest - earliest === BigInt(count - 1) * everyNanos;
}
