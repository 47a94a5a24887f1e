// What the engine needs besides its options: tests pass their own.
import type { Clock } from '@tidemark/core';

import type { Disk } from '../disk/disk.ts';

export type StorageEnvironment = {
  readonly clock: Clock;
  readonly disk: Disk;
  /** Called at named steps of background work; a test ends the process there. */
  readonly fault?: ((point: string) => void | Promise<void>) | undefined;
};
