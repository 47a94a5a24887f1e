// What an engine works with besides its data: its own, whatever other engines there are in the
// thread. Nothing of it is found by way of a module.
import type { Clock } from '@tidemark/core';

import { ReadKernels } from '../columns/read-kernels.ts';
import { LIMITS } from '../limits.ts';
import type { StorageOptions } from '../options.ts';
import { LastRows } from '../read/last-rows.ts';
import { MemoryTotal } from '../read/request-memory.ts';
import { Turns } from '../schedule/turns.ts';
import { SchemaVersions } from '../series/schema-version.ts';

export type Resources = {
  /** Who may work next. */
  readonly turns: Turns;
  /** Decoded columns, and what reads them. */
  readonly kernels: ReadKernels;
  /** Last rows of series as they were answered. */
  readonly lastRows: LastRows;
  /** What running requests hold. */
  readonly requestMemory: MemoryTotal;
  /** Told of every change of the schema. */
  readonly schemaVersions: SchemaVersions;
};

/** `schemaVersions` where another thread reads them. */
export function resourcesFor(
  options: StorageOptions,
  {
    clock,
    schemaVersions,
  }: { readonly clock: Clock; readonly schemaVersions?: SchemaVersions | undefined },
): Resources {
  return {
    turns: new Turns({ clock, sliceMs: LIMITS.sliceMs.value }),
    kernels: new ReadKernels(options.columnCacheBytes),
    lastRows: new LastRows(),
    requestMemory: new MemoryTotal(
      options.requestMemoryBytes ?? LIMITS.totalRequestMemoryBytes.value,
    ),
    schemaVersions: schemaVersions ?? new SchemaVersions(),
  };
}
