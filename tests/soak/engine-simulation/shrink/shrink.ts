// Shrinks a failing plan: leaves out what the failure does not need.
import type { Plan } from '../workload/plan.ts';

/** So many runs at most. */
const RUNS_MAX = 200;

export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let left = plan.steps;
  let runs = 0;
  for (let size = Math.ceil(plan.steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < left.length && runs < RUNS_MAX;) {
      const shorter = [...left.slice(0, at), ...left.slice(at + size)];
      runs++;
      if (await fails({ ...plan, steps: shorter })) left = shorter;
      else at += size;
    }
  }
  return { ...plan, steps: left };
}
