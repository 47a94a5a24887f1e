// Drops the policies that are not in a catalog.
import type { PointStorage } from './point-storage.ts';
import type { PolicyRef } from './writes.ts';

/**
 * Drops the data of all policies that are not in `policies`. Policies with an id from `nextId` on
 * stay: another service that shares the storage has created them. Tries all drops and rejects when
 * one fails; storage owes those that failed.
 */
export async function retainPolicies(
  storage: Pick<PointStorage, 'shards' | 'dropPolicy'>,
  policies: readonly PolicyRef[],
  nextId = Number.POSITIVE_INFINITY,
): Promise<void> {
  const kept = new Set(policies.map(({ id }) => id));
  const ids = new Set((await storage.shards()).map(({ policyId }) => policyId));
  const gone = [...ids].filter((id) => !kept.has(id) && id < nextId);
  const drops = await Promise.allSettled(gone.map((id) => storage.dropPolicy(id)));
  for (const drop of drops) if (drop.status === 'rejected') throw drop.reason;
}
