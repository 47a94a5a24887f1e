// The resources of one engine besides its data: schedules, caches, counts of memory. They are
// passed to the parts that need them. Engines in one thread share only those that they are given
// (`StorageEnvironment`).
import { ReadKernels } from '../columns/read-kernels.ts';
import { LIMITS } from '../limits.ts';
import type { StorageEnvironment } from './environment.ts';
import type { StorageOptions } from '../options.ts';
import { LastRows } from '../read/last-rows.ts';
import { MemoryTotal } from '../read/request-memory.ts';
import { Turns } from '../schedule/turns.ts';
import { SchemaVersions } from '../series/schema-version.ts';

export type Resources = {
  /** Decides which work runs next. */
  readonly turns: Turns;
  /** The cache of decoded columns, and the scans over it. */
  readonly kernels: ReadKernels;
  /** Cache of the last rows of series. */
  readonly lastRows: LastRows;
  /** Memory that running requests hold. */
  readonly requestMemory: MemoryTotal;
  /** Incremented with every change of the schema. */
  readonly schemaVersions: SchemaVersions;
};

type SharedParts = 'clock' | 'schemaVersions' | 'kernels' | 'nextRound';

/** Creates the resources, apart from those that are shared and passed. */
export function resourcesFor(
  options: StorageOptions,
  { clock, schemaVersions, kernels, nextRound }: Pick<StorageEnvironment, SharedParts>,
): Resources {
  return {
    turns: new Turns({ clock, sliceMs: LIMITS.sliceMs.value, nextRound }),
    kernels: kernels ?? new ReadKernels(options.columnCacheBytes),
    lastRows: new LastRows(),
    requestMemory: new MemoryTotal(),
    schemaVersions: schemaVersions ?? new SchemaVersions(),
  };
}
