// Small answers that are produced in the source's thread: the plan is sent to the thread that has
// the points, and the text of its series comes back, instead of a request for windows and the
// windows. Contains both sides of this exchange (docs/adr/0022-prepared-statements.md).
import { LimitExceeded } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';

import type { QueryContext } from './context.ts';
import { execute } from './execute/execute.ts';
import { ExecutionContext } from './execution/execution-context.ts';
import { SMALL_AGGREGATION_BYTES, SMALL_ANSWER_BYTES } from './limits.ts';
import { forEachBatch } from './operator.ts';
import type { Steps } from './operator.ts';
import { JsonEncoder } from './output/json-encoder.ts';
import { UnsupportedFloat } from './output/number-text.ts';
import { withSourceCondition } from './plan/calculated-condition.ts';
import { physicalPlan } from './plan/physical-plan.ts';
import type { PhysicalPlan } from './plan/physical-plan.ts';
import type { SelectPlan } from './plan/select-plan.ts';
import { smallAnswerRows } from './plan/small-answer.ts';
import { toResults } from './project/to-results.ts';
import type { AnswerRequest } from './series-source.ts';

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
  physical: PhysicalPlan,
  cachedPlan: SelectPlan | undefined,
  context: QueryContext,
): Steps<boolean> {
  const { seriesText, snapshot, limits, signal, onPartial } = context;
  if (cachedPlan === undefined || seriesText === undefined || onPartial === undefined) return false;
  if (snapshot.answer === undefined) return false;
  const rows = smallAnswerRows(physical);
  if (rows === undefined || rows > seriesText.maxRows) return false;
  const { condition, limit, offset, range } = physical.select;
  const { pushed } = condition;
  const bound: Bound | undefined =
    pushed === undefined && limit === 0 && offset === 0 ? undefined : { pushed, limit, offset };
  const request = { plan: cachedPlan, bound, range, epoch: seriesText.epoch, limits };
  const text = yield* snapshot.answer(request, { signal, onPartial });
  if (text === undefined) return false;
  seriesText.append(text);
  return true;
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
  // Small answers leave no series out, but the statement whose plan this is may.
  const bound = { range, limit, offset, seriesLimit: 0, seriesOffset: 0 };
  return { ...withSourceCondition(plan, pushed), ...bound };
}
