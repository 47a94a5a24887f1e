// The rows of which a lone `top` or `bottom` over a whole group chooses the best: the source leaves
// out those that are worse than enough others.
import type { RankingSpec } from '../functions/ranking.ts';
import { RANKED_MOST } from '../limits.ts';
import type { SelectPlan } from './select-plan.ts';

export type RankedRows = RankingSpec & {
  /** The input whose values are compared. */
  readonly input: number;
  /** Whether rows of the same time and value differ in other columns. */
  readonly hasOtherColumns: boolean;
};

/**
 * What a plan ranks; `undefined` if rows that are not among the best matter, too: in windows, or
 * because a condition is evaluated here.
 */
export function rankedRows(plan: SelectPlan): RankedRows | undefined {
  const { calls, inputs, interval, condition, auxiliaryInputs } = plan;
  const [call] = calls;
  const { reducer, input, transformations = [] } = call ?? {};
  if (calls.length !== 1 || input === undefined || transformations.length > 0) return undefined;
  if (reducer?.kind !== 'top' && reducer?.kind !== 'bottom') return undefined;
  if (interval !== undefined || condition.residual !== undefined) return undefined;
  if (reducer.size > RANKED_MOST) return undefined;
  if (reducer.distinctInputs.some((tag) => inputs[tag]?.kind !== 'tag')) return undefined;
  return { ...reducer, input, hasOtherColumns: auxiliaryInputs.length > 0 };
}
