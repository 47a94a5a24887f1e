// Runs the plan of a SELECT: sources → leaves → expressions → limits. Recursive for subqueries.
import type { RowBatch } from '../batch/row-batch.ts';
import { invalid } from '../compat-messages.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { LeafFault } from '../analyse/columns.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { canPushAggregates } from './aggregate-measurement.ts';
import { checkLimits } from './check-limits.ts';
import { haveDistinctNames, inNameOrder } from './open-rows.ts';
import { runAggregated } from './run-aggregated.ts';
import type { RunContext } from './run-context.ts';
import { runRaw } from './run-raw.ts';
import { runReduced } from './run-reduced.ts';
import { limitSeries } from './series-limit.ts';

/** Rows of the answer: columns are the plan's outputs, groups in the order of the answer. */
export function runSelect(plan: SelectPlan, run: RunContext): Operator<RowBatch> {
  return run.operator('select', plan, selectRows(plan, run));
}

function* selectRows(plan: SelectPlan, run: RunContext): Operator<RowBatch> {
  yield* checkLimits(plan, run);
  for (const batch of rowsOfSeries(plan, run)) {
    yield batch;
    if (!isPause(batch)) yield;
  }
}

/** The rows of all series, or of those that SLIMIT and SOFFSET leave. */
function* rowsOfSeries(plan: SelectPlan, run: RunContext): Operator<RowBatch> {
  const way = wayOf(plan, run);
  if (plan.seriesLimit === 0 && plan.seriesOffset === 0) {
    yield* way(plan, run, runSelect);
    return;
  }
  // Measurements are limited one by one, so that none is read further than it is answered.
  const parts = haveDistinctNames(plan)
    ? inNameOrder(plan).map((source) => ({ ...plan, sources: [source] }))
    : [plan];
  for (const part of parts) {
    yield* run.operator('limit series', part, limitSeries(way(part, run, runSelect), part));
  }
}

function wayOf(plan: SelectPlan, run: RunContext): typeof runRaw {
  if (plan.leaves.length === 0) return runRaw;
  const fault = firstFault(plan);
  if (fault !== undefined) throw invalid(fault.text, fault.place);
  return canPushAggregates(plan, run.query.capabilities) ? runAggregated : runReduced;
}

/** The fault of a call on a field of the wrong type; that of an inner query comes first. */
function firstFault(plan: SelectPlan): LeafFault | undefined {
  const own = plan.leaves.find((leaf) => leaf.fault !== undefined)?.fault;
  if (own === undefined) return undefined;
  for (const source of plan.sources) {
    const inner = source.kind === 'subquery' ? firstFault(source.plan) : undefined;
    if (inner !== undefined) return inner;
  }
  return own;
}
