// Shrinks a failing plan: leaves operations out while it still fails. Fewer operations run in a
// different order, so each attempt uses several seeds of the order.
import type { Plan } from '../workload/operations.ts';

const ORDERS = 6;
const RUNS_MAX = 400;

/** The smallest plan found that still fails. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let smallest = plan;
  let runs = 0;
  const attempt = async (operations: Plan['operations']): Promise<boolean> => {
    for (let order = 0; order < ORDERS && runs < RUNS_MAX; order++) {
      runs++;
      const candidate = { ...plan, operations, seed: plan.seed + order * 1_000_003 };
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      return true;
    }
    return false;
  };
  for (let size = plan.operations.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < smallest.operations.length;) {
      const { operations } = smallest;
      const rest = operations.toSpliced(at, size);
      if (!(await attempt(rest))) at += size;
    }
  }
  return smallest;
}
