// Small answers that are produced in the source's thread: the plan is sent to the thread that has
// the points, and the text of its series comes back, instead of a request for windows and the
// windows. Has both ends of this exchange (docs/adr/0022-small-answers.md).
import { LimitExceeded } from '@tidemark/core';

import type { QueryContext } from './context.ts';
import { execute } from './execute/execute.ts';
import { ExecutionContext } from './execution/execution-context.ts';
import { SMALL_ANSWER_BYTES, SMALL_ANSWER_CELLS } from './limits.ts';
import { isPause } from './operator.ts';
import type { Steps } from './operator.ts';
import { JsonEncoder } from './output/json-encoder.ts';
import { UnsupportedFloat } from './output/number-text.ts';
import type { KeptPlan } from './plan/known-plans.ts';
import { physicalPlan } from './plan/physical-plan.ts';
import type { SourcesPlan } from './plan/physical-plan.ts';
import { fillPlan } from './plan/plan-slots.ts';
import type { SelectPlan } from './plan/select-plan.ts';
import { toResults } from './project/to-results.ts';
import type { AnswerRequest } from './series-source.ts';

/**
 * Appends the text of a small answer as the source has written it. `false` where the answer has to
 * be made here: it may be large, or nobody takes text, or the source writes none. A statement that
 * is the first of its form has no kept plan: to send it would cost more than it saves.
 */
export function* answeredBySource(kept: KeptPlan, context: QueryContext): Steps<boolean> {
  const { seriesText, snapshot, limits, signal, onPartial } = context;
  if (seriesText === undefined || onPartial === undefined) return false;
  if (snapshot.answer === undefined || !isSmall(kept)) return false;
  const { plan, values, range } = kept;
  const request = { plan: plan.select, values, range, epoch: seriesText.epoch, limits };
  const text = yield* snapshot.answer(request, { signal, onPartial });
  if (text === undefined) return false;
  seriesText.append(text);
  return true;
}

/**
 * Whether little is done in the thread of the source besides what it does anyway, and little comes
 * back: one group of a bounded number of windows that the source reduces, or the first rows of one.
 */
function isSmall({ plan: { select, rows }, range }: KeptPlan): boolean {
  if (rows.kind === 'raw') return isFewRows(select, rows.sources);
  if (rows.kind !== 'aggregated' || rows.sources.length !== 1) return false;
  const { calls, dimensions, interval, outputs, zone } = select;
  if (zone !== undefined || dimensions.length > 0) return false;
  // Some calculate for long, or add windows.
  if (calls.some(({ transformations }) => transformations.length > 0)) return false;
  if (interval === undefined) return true;
  const windows = (range.end - range.start) / interval.everyNanos + 2n;
  return windows * BigInt(outputs.length + 1) <= SMALL_ANSWER_CELLS;
}

/** Texts may be long, and what the source cannot filter takes as long as it takes. */
function isFewRows(select: SelectPlan, { sources }: SourcesPlan): boolean {
  const { condition, dimensions, inputs, limit, offset, outputs, zone } = select;
  const [only] = sources;
  return (
    sources.length === 1 &&
    only?.kind === 'scan' &&
    zone === undefined &&
    dimensions.length === 0 &&
    condition.residual === undefined &&
    inputs.every((input) => input.kind !== 'field' || input.type !== 'string') &&
    limit > 0 &&
    BigInt(limit + offset) * BigInt(outputs.length + 1) <= SMALL_ANSWER_CELLS
  );
}

/** What has been looked up is in the plan, and no call that may be in it draws numbers. */
const UNASKED: Pick<QueryContext, 'catalog' | 'monotonicMs' | 'random'> = {
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
 * The source's end: the series of an answer as `JsonEncoder` writes them between `open` and
 * `close`. `undefined` when JSON lacks one of its numbers, or when more rows have to be merged than
 * others should wait for.
 */
export function* answerText(
  { plan, values = [], range, epoch, limits }: AnswerRequest,
  source: Pick<QueryContext, Source>,
): Steps<Uint8Array | undefined> {
  // Plans come from `answeredBySource`; nobody else knows what is in one.
  const select = fillPlan(plan as SelectPlan, range, values);
  const physical = physicalPlan(select, source.capabilities);
  const held = physical.rows.kind === 'raw' ? { maxQueryMemoryBytes: SMALL_ANSWER_BYTES } : {};
  const query = { ...UNASKED, ...source, limits: { ...limits, ...held }, now: range.end };
  const rows = execute(physical, new ExecutionContext(query));
  const encoder = new JsonEncoder(epoch);
  try {
    for (const batch of toResults(rows, select)) {
      if (isPause(batch)) yield batch;
      else encoder.batch(batch);
    }
  } catch (error) {
    // Whoever asked has more time and memory, and says which limit it is.
    if (error instanceof UnsupportedFloat || error instanceof LimitExceeded) return undefined;
    throw error;
  }
  return encoder.out.take();
}
