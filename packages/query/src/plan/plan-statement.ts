// Turns a SELECT into its plan: prepared, bound, planned.
import type { SelectStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import type { Steps } from '../operator.ts';
import { physicalPlan } from './physical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { prepare } from './plan-cache.ts';
import { planSelect } from './plan-select.ts';
import type { SelectPlan } from './select-plan.ts';

export type PlanStatementOptions = {
  /** INTO writes only windows that have data. */
  readonly isInto?: boolean | undefined;
};

export type PlannedStatement = {
  readonly select: SelectPlan;
  /** The plan of another statement of its shape, if there was one. */
  readonly cachedPlan: SelectPlan | undefined;
};

/** Waits only for the names of its sources. */
export function* planStatement(
  statement: SelectStatement,
  context: QueryContext,
  { isInto = false }: PlanStatementOptions = {},
): Steps<PlannedStatement> {
  const prepared = yield* prepare(statement, context);
  const select = planSelect(prepared, { now: context.now, isInto });
  prepared.store?.(select);
  return { select, cachedPlan: prepared.cached?.plan };
}

/** The plan of a statement that is executed in this thread. */
export function* physicalStatement(
  statement: SelectStatement,
  context: QueryContext,
  options?: PlanStatementOptions,
): Steps<PhysicalPlan> {
  const { select } = yield* planStatement(statement, context, options);
  return physicalPlan(select, context.capabilities);
}
