// Small answers that are produced in the source's thread: the plan is sent to the thread that has
// the points, and the text of its series comes back, instead of a request for windows and the
// windows. Contains both sides of this exchange (docs/adr/0022-prepared-statements.md).
import { isSubquery } from '@tidemark/influxql';
import { LimitExceeded } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';

import type { QueryContext } from './context.ts';
import { execute } from './execute/execute.ts';
import { ExecutionContext } from './execution/execution-context.ts';
import { SMALL_AGGREGATION_BYTES, SMALL_ANSWER_BYTES, SMALL_ANSWER_CELLS } from './limits.ts';
import { forEachBatch } from './operator.ts';
import type { Steps } from './operator.ts';
import { JsonEncoder } from './output/json-encoder.ts';
import { UnsupportedFloat } from './output/number-text.ts';
import { physicalPlan } from './plan/physical-plan.ts';
import type { PlannedStatement } from './plan/plan-statement.ts';
import { canPushAggregates } from './plan/push-aggregates.ts';
import type { SelectPlan } from './plan/select-plan.ts';
import { toResults } from './project/to-results.ts';
import type { AnswerRequest, SourceCapabilities } from './series-source.ts';

/** The bound values of a plan that the source executes, besides its range. */
type Bound = Pick<SelectPlan, 'limit' | 'offset'> & {
  readonly pushed: SelectPlan['condition']['pushed'];
};

/**
 * Appends the text of a small answer that the source has produced. `false` if the answer has to be
 * produced here: it may be large, or is not wanted as text, or the source has no text. The first
 * statement of its shape is not sent: its plan would cost more than it saves.
 */
export function* executeInStorageThread(
  { select, cachedPlan }: PlannedStatement,
  context: QueryContext,
): Steps<boolean> {
  const { capabilities, seriesText, snapshot, limits, signal, onPartial } = context;
  if (cachedPlan === undefined || seriesText === undefined || onPartial === undefined) return false;
  if (snapshot.answer === undefined || !isSmall(select, capabilities, seriesText.maxRows))
    return false;
  const { condition, limit, offset, range } = select;
  const { pushed } = condition;
  const bound: Bound | undefined =
    pushed === undefined && limit === 0 && offset === 0 ? undefined : { pushed, limit, offset };
  const request = { plan: cachedPlan, bound, range, epoch: seriesText.epoch, limits };
  const text = yield* snapshot.answer(request, { signal, onPartial });
  if (text === undefined) return false;
  seriesText.append(text);
  return true;
}

/**
 * Whether the statement takes little time in the thread of the source and has a small result: one
 * group of a bounded number of windows that the source reduces, or the first rows of one.
 */
function isSmall(select: SelectPlan, capabilities: SourceCapabilities, maxRows: number): boolean {
  const { calls, dimensions, interval, outputs, range, sources, zone } = select;
  if (sources.length !== 1 || sources.some(isSubquery)) return false;
  if (zone !== undefined || dimensions.length > 0) return false;
  if (select.seriesLimit > 0 || select.seriesOffset > 0) return false;
  if (calls.length === 0) return isFewRows(select, maxRows);
  // Such calls may calculate for long, add windows, or fail.
  if (calls.some((call) => call.fault !== undefined || call.transformations.length > 0))
    return false;
  if (!canPushAggregates(select, capabilities)) return false;
  if (interval === undefined) return true;
  const windows = (range.end - range.start) / interval.everyNanos + 2n;
  return windows <= maxRows && windows * BigInt(outputs.length + 1) <= SMALL_ANSWER_CELLS;
}

/** Texts may be long, and conditions that the source cannot apply have no bound on their time. */
function isFewRows(
  { condition, inputs, limit, offset, outputs }: SelectPlan,
  maxRows: number,
): boolean {
  return (
    condition.residual === undefined &&
    inputs.every((input) => input.kind !== 'field' || input.type !== 'string') &&
    limit > 0 &&
    limit <= maxRows &&
    BigInt(limit + offset) * BigInt(outputs.length + 1) <= SMALL_ANSWER_CELLS
  );
}

/** Never used: the plan contains all look-ups, and none of its calls uses random numbers. */
const NO_CATALOG: Pick<QueryContext, 'catalog' | 'monotonicMs' | 'random'> = {
  catalog: {
    hasDatabase: () => false,
    hasRetentionPolicy: () => false,
    defaultRetentionPolicy: () => undefined,
    retentionPolicies: () => [],
  },
  monotonicMs: () => 0,
  random: () => 0,
};

type Source = 'snapshot' | 'capabilities' | 'signal' | 'counters' | 'onPartial';

/**
 * The source's side: the series of an answer as `JsonEncoder` writes them between `open` and
 * `close`. `undefined` if JSON lacks one of its numbers, or if merging its rows would make others
 * wait too long.
 */
export function* answerText(
  { plan, bound, range, epoch, limits }: AnswerRequest,
  source: Pick<QueryContext, Source>,
): Steps<Uint8Array | undefined> {
  // Plans are opaque to all but `executeInStorageThread`, which made this one.
  const select = boundPlan(plan as SelectPlan, range, bound as Bound | undefined);
  const physical = physicalPlan(select, source.capabilities);
  const bytes = physical.rows.kind === 'raw' ? SMALL_ANSWER_BYTES : SMALL_AGGREGATION_BYTES;
  const maxQueryMemoryBytes = Math.min(bytes, limits.maxQueryMemoryBytes || bytes);
  const held = { ...limits, maxQueryMemoryBytes };
  const query = { ...NO_CATALOG, ...source, limits: held, now: range.end };
  const rows = execute(physical, new ExecutionContext(query));
  const encoder = new JsonEncoder(epoch);
  try {
    yield* forEachBatch(toResults(rows, select), (batch) => encoder.batch(batch));
  } catch (error) {
    // The caller has more time and memory, and reports which limit was reached.
    if (error instanceof UnsupportedFloat || error instanceof LimitExceeded) return undefined;
    throw error;
  }
  return encoder.out.take();
}

const UNBOUND: Bound = { pushed: undefined, limit: 0, offset: 0 };

function boundPlan(
  plan: SelectPlan,
  range: TimeRange,
  { pushed, limit, offset }: Bound = UNBOUND,
): SelectPlan {
  const condition = { pushed, residual: undefined, whole: undefined };
  // Small answers leave no series out, but the statement whose plan this is may.
  return { ...plan, range, condition, limit, offset, seriesLimit: 0, seriesOffset: 0 };
}
