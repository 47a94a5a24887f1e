// Opens the engine in the calling thread: inside the storage thread, for tests and for offline
// tools.
import { systemClock } from '@tidemark/core';

import { FilePool, pooledFilesMax } from '../disk/file-pool.ts';
import { lockStorage } from '../disk/storage-lock.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import type { Engine } from './engine.ts';
import { openEngine } from './open-engine.ts';
import { resourcesFor } from './resources.ts';
import type { StorageEnvironment } from './environment.ts';
import type { StorageOptions } from '../options.ts';

/** The share of the descriptors that a thread of the engine has: the readers have one each. */
export function sharedPool({ queryThreads = 0 }: Pick<StorageOptions, 'queryThreads'>): FilePool {
  return new FilePool(pooledFilesMax(1 + queryThreads));
}

/** One process per directory. */
export async function openStorageInline(
  options: StorageOptions,
  environment: Partial<StorageEnvironment> = {},
): Promise<Engine> {
  const clock = environment.clock ?? systemClock();
  const disk = environment.disk ?? nodeDisk(sharedPool(options));
  disk.makeDirectory(options.directory);
  // A caller that passes its own disk is responsible for having it to itself.
  const lock = environment.disk === undefined ? await lockStorage(options.directory) : undefined;
  const resources = resourcesFor(options, { ...environment, clock });
  const opening = openEngine(options, { ...environment, clock, disk, lock }, resources);
  return opening.catch(async (error: unknown) => {
    await lock?.release();
    throw error;
  });
}
