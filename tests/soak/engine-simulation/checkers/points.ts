// At the end every acknowledged point was counted once, and no point twice.
import type { Run } from '../simulate.ts';

export function points({ instances, model }: Run): string | undefined {
  const counts = instances.find((instance) => instance?.serving !== undefined)?.serving?.counts;
  if (counts === undefined) return 'nobody serves at the end';
  for (const [point, outcome] of model.points) {
    const count = counts.get(point) ?? 0;
    if (count > 1) return `${point} was counted ${count} times`;
    if (count === 0 && outcome === 'acknowledged') return `${point} was acknowledged and is lost`;
  }
  return undefined;
}
