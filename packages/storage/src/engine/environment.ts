// What the engine needs besides its options: tests pass their own.
import type { Clock } from '@tidemark/core';
import type { DirectoryLock } from '@tidemark/process';

import type { ReadKernels } from '../columns/read-kernels.ts';
import type { Disk } from '../disk/disk.ts';
import type { MakeReaders } from '../read/leased-read.ts';
import type { SchemaVersions } from '../series/schema-version.ts';

export type StorageEnvironment = {
  /** Shared with another thread that caches answers; by default the engine creates its own. */
  readonly schemaVersions?: SchemaVersions | undefined;
  /**
   * Shared with another engine of the thread that runs the same code: V8 compiles calls of kernels
   * for one instance of them. By default the engine creates its own.
   */
  readonly kernels?: ReadKernels | undefined;
  /** Makes the readers of large aggregates; without it the thread reads them itself. */
  readonly readers?: MakeReaders | undefined;
  readonly clock: Clock;
  readonly disk: Disk;
  /** The lock of the directory, which the engine releases when it is closed. */
  readonly lock?: DirectoryLock | undefined;
  /** Runs a function in the next round of the event loop; by default `setImmediate`. */
  readonly nextRound?: ((run: () => void) => void) | undefined;
  /** Called at named steps of background work; a test ends the process there. */
  readonly fault?: ((point: string) => void | Promise<void>) | undefined;
};
