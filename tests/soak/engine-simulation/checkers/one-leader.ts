// Checks that at every moment at most one instance acts as the leader.
import type { Run } from '../simulate.ts';

export function oneLeader({ instances }: Run): string | undefined {
  const serving = instances.filter((instance) => instance?.serving !== undefined);
  if (serving.length <= 1) return undefined;
  return `${serving.map((instance) => instance?.name).join(' and ')} serve at once`;
}
