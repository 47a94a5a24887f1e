// Checks that in the end every acknowledged point is in the log exactly once, and in exactly the
// windows it belongs to: they equal those of a single engine, each looped back once and counted
// once.
import type { Expected, Totals } from '../model/reference.ts';
import type { Run } from '../simulate.ts';

export function points(
  { model, instances, dead }: Run,
  expected: Expected,
  totals: Totals,
): string | undefined {
  const counts = new Map<number, number>();
  for (const number of expected.numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  for (const [point, outcome] of model.points) {
    const count = counts.get(point) ?? 0;
    if (count > 1) return `point ${point} is in the log ${count} times`;
    if (count === 0 && outcome === 'acknowledged')
      return `point ${point} was acknowledged and is lost`;
    if (count > 0 && outcome === 'refused') return `point ${point} was refused and is there`;
    if (outcome === 'under way') return `point ${point} is not answered`;
  }
  if (dead.has('windows')) return undefined;
  for (const [group, windows] of expected.windows) {
    const looped = expected.looped.get(group) ?? [];
    if (windows.join() !== looped.join())
      return `windows of ${group} are ${looped.join(', ')}; expected ${windows.join(', ')}`;
  }
  if (!instances.some((instance) => instance?.serving !== undefined)) return 'nobody serves';
  if (dead.has('totals')) return undefined;
  for (const [group, total] of expected.totals)
    if (totals.get(group) !== total)
      return `the total of ${group} is ${totals.get(group)}, expected ${total}`;
  return undefined;
}
