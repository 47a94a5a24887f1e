// Drops the policies that a catalog does not know.
import type { PolicyRef, ShardInfo } from './storage-engine.ts';

/** What is needed of an engine. */
export type DropsPolicies = {
  shards(): Promise<readonly ShardInfo[]>;
  dropPolicy(policyId: number): Promise<void>;
};

/** Rejects when one of the drops fails, after all have been tried: those that fail are owed. */
export async function retainPolicies(
  engine: DropsPolicies,
  policies: readonly PolicyRef[],
): Promise<void> {
  const kept = new Set(policies.map(({ id }) => id));
  const gone = new Set((await engine.shards()).map(({ policyId }) => policyId));
  for (const id of kept) gone.delete(id);
  const drops = await Promise.allSettled([...gone].map((id) => engine.dropPolicy(id)));
  for (const drop of drops) if (drop.status === 'rejected') throw drop.reason;
}
