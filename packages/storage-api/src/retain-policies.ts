// Drops the policies that are not in a catalog.
import type { ShardInfo } from './storage-engine.ts';
import type { PolicyRef } from './writes.ts';

/** The methods of the engine that are needed. */
export type DropsPolicies = {
  shards(): Promise<readonly ShardInfo[]>;
  dropPolicy(policyId: number): Promise<void>;
};

/** Tries all drops and rejects when one fails; the engine owes those that failed. */
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
