// The engine in the calling thread: inside the storage thread, for tests and for offline tools.
import { systemClock } from '@tidemark/core';
import type { StorageEngine } from '@tidemark/storage-api';

import { lockStorage } from '../disk/storage-lock.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import type { Engine } from './engine.ts';
import { openEngine } from './open-engine.ts';
import { resourcesFor } from './resources.ts';
import { LocalSource } from '../read/local-source.ts';
import { LIMITS } from '../limits.ts';
import type { StorageEnvironment } from './environment.ts';
import type { StorageOptions } from '../options.ts';

/** With what only the storage thread calls. */
export type InlineEngine = StorageEngine & Pick<Engine, 'writeTogether'>;

/** Opens the engine in the calling thread. One process per directory. */
export async function openStorageInline(
  options: StorageOptions,
  environment: Partial<StorageEnvironment> = {},
): Promise<InlineEngine> {
  const clock = environment.clock ?? systemClock();
  const disk = environment.disk ?? nodeDisk();
  disk.makeDirectory(options.directory);
  // A caller that passes its own disk is responsible for having it to itself.
  const lock = environment.disk === undefined ? await lockStorage(options.directory) : undefined;
  const resources = resourcesFor(options, { ...environment, clock });
  const opening = openEngine(options, { ...environment, clock, disk }, resources);
  const engine = await opening.catch(async (error: unknown) => {
    await lock?.release();
    throw error;
  });
  const snapshotMaxAgeMs = options.snapshotMaxAgeMs ?? LIMITS.snapshotAgeMs.value;
  return {
    source: new LocalSource({
      ...resources,
      snapshot: () => engine.snapshot(),
      clock,
      snapshotMaxAgeMs,
    }),
    writeLines: (request) => engine.writeLines(request),
    writeTogether: (requests) => engine.writeTogether(requests),
    writePoints: (request) => engine.writePoints(request),
    delete: (request) => engine.delete(request),
    dropMeasurement: (database, measurement) => engine.dropMeasurement(database, measurement),
    dropPolicy: (policyId) => engine.dropPolicy(policyId),
    replicas: () => Promise.resolve([]),
    retainPolicies: (policies) => engine.retainPolicies(policies),
    dropShard: (shardId) => engine.dropShard(shardId),
    shards: () => engine.shardInfos(),
    statistics: () => engine.statistics(),
    damage: () => engine.damage(),
    flush: () => engine.flush(),
    compact: () => engine.compact(),
    backup: (request) => engine.backup(request),
    restore: (request, bytes) => engine.restore(request, bytes),
    close: async () => {
      await engine.close();
      await lock?.release();
    },
  };
}
