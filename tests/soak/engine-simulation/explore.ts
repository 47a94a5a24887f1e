// Runs many seeds, one after another; a failing one is reported with the shortest plan that fails,
// and is reproducible.
import { shrink } from './shrink/shrink.ts';
import { simulate } from './simulate.ts';
import { planOf } from './workload/plan.ts';

export type Found = {
  readonly seed: number;
  readonly failure: string;
  /** The shortest plan found that fails, and what happens in it. */
  readonly history: readonly string[];
};

/**
 * The first seed that fails, and how often rare ways were taken until then. With a checker, the
 * first that fails by it, as it is.
 */
export async function explore(
  seeds: Iterable<number>,
  { checker }: { readonly checker?: string } = {},
): Promise<{ readonly found: Found | undefined; readonly marks: ReadonlyMap<string, number> }> {
  const marks = new Map<string, number>();
  for (const seed of seeds) {
    const plan = planOf(seed);
    const { failure, marks: taken } = await simulate(plan);
    for (const [mark, count] of taken) marks.set(mark, (marks.get(mark) ?? 0) + count);
    if (failure === undefined) continue;
    const by = failure.split(':')[0];
    if (checker !== undefined && checker !== by) continue;
    if (checker !== undefined) return { found: { seed, failure, history: [] }, marks };
    const short = await shrink(plan, async (shorter) => {
      const { failure: other } = await simulate(shorter);
      return other?.split(':')[0] === by;
    });
    const { trace, failure: last = failure } = await simulate(short);
    return { found: { seed, failure: last, history: trace }, marks };
  }
  return { found: undefined, marks };
}
