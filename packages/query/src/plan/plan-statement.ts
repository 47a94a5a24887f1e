// From a SELECT to its physical plan: names, analysis, plan, and the way it goes.
import type { SelectStatement } from '@tidemark/influxql';

import { prepareSelect } from '../analyse/prepare-select.ts';
import type { QueryContext } from '../context.ts';
import type { Steps } from '../operator.ts';
import { keepPlan, knownPlan } from './known-plans.ts';
import { physicalPlan } from './physical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { planSelect } from './plan-select.ts';

/** Waits for nothing but the names of its sources. */
export function* planStatement(
  statement: SelectStatement,
  context: QueryContext,
  { isInto = false } = {},
): Steps<PhysicalPlan> {
  const known = isInto ? undefined : yield* knownPlan(statement, context);
  let select = known?.select;
  if (select === undefined) {
    const prepared = yield* prepareSelect(statement, context, known?.names);
    select = planSelect(prepared, { now: context.now, isInto });
    if (!isInto) keepPlan(prepared, select, context.limits);
  }
  return { ...physicalPlan(select, context.capabilities), known: known?.kept };
}
