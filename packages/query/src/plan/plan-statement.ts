// Turns a SELECT into its physical plan: names, analysis, plan, physical plan.
import type { SelectStatement } from '@tidemark/influxql';

import { prepareSelect } from '../analyse/prepare-select.ts';
import type { QueryContext } from '../context.ts';
import type { Steps } from '../operator.ts';
import { keepPlan } from './known-plans.ts';
import type { KnownStatement } from './known-plans.ts';
import { physicalPlan } from './physical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { planSelect } from './plan-select.ts';
import { fillPlan } from './plan-slots.ts';

export type PlanStatementOptions = {
  /** INTO writes only windows that have data. */
  readonly isInto?: boolean | undefined;
  readonly known?: KnownStatement | undefined;
};

/** Waits for nothing but the names of its sources. */
export function* planStatement(
  statement: SelectStatement,
  context: QueryContext,
  { isInto = false, known }: PlanStatementOptions = {},
): Steps<PhysicalPlan> {
  const { now, capabilities } = context;
  const kept = known?.kept;
  if (kept !== undefined) {
    const { plan, range, values } = kept;
    return physicalPlan(fillPlan(plan.select, range, values), capabilities);
  }
  const { onFinding } = context;
  let hasFindings = onFinding === undefined ? undefined : false;
  const watched: QueryContext = {
    ...context,
    onFinding:
      onFinding &&
      ((finding) => {
        hasFindings = true;
        onFinding(finding);
      }),
  };
  const prepared = yield* prepareSelect(statement, watched, known?.names);
  const select = planSelect(prepared, { now, isInto });
  if (!isInto) keepPlan(prepared, select, context, hasFindings);
  return physicalPlan(select, capabilities);
}
