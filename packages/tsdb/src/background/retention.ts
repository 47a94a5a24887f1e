// Retention: shard groups whose newest possible point is older than the policy's duration are
// dropped whole.
import type { Clock } from '@tidemark/core';
import type { PointStorage } from '@tidemark/storage-api';
import type { Logger } from 'pino';

import type { Catalog } from '../catalog/catalog.ts';

export type RetentionOptions = {
  readonly catalog: Catalog;
  readonly storage: PointStorage;
  readonly clock: Clock;
  readonly log: Logger;
};

/** One round; resolves with the number of dropped shards. */
export async function enforceRetention(options: RetentionOptions): Promise<number> {
  const { catalog, storage, clock, log } = options;
  const durations = new Map(
    [...catalog.state.databases.values()].flatMap((database) =>
      database.policies.map((policy) => [policy.id, policy.durationNanos] as const),
    ),
  );
  const now = clock.now();
  let dropped = 0;
  for (const shard of await storage.shards()) {
    const duration = durations.get(shard.policyId) ?? 0n;
    if (duration === 0n || shard.end + duration >= now) continue;
    log.info(
      { shard: shard.id, database: shard.database, retentionPolicy: shard.retentionPolicy },
      'dropping an expired shard',
    );
    if (await storage.dropShard(shard.id)) dropped++;
  }
  return dropped;
}
