// What happens when a request needs something that is damaged: it fails, or its answer is marked as
// partial. Every read of points or of the schema checks this before it selects series, because
// nobody knows which series an unreadable segment holds.
import type { EndedGroup, SourceCounters } from '@tidemark/query';
import type { Damage } from '@tidemark/storage-api';

import { partialAnswer, unreadable } from '../damage.ts';
import type { ReadKernels } from '../columns/read-kernels.ts';
import type { LeasedReader } from './leased-read.ts';
import type { LastRows } from './last-rows.ts';
import type { RequestMemory } from './request-memory.ts';
import type { ShardView, Snapshot } from '../state/snapshot.ts';

/** Called with what the answer lacks, if the source may answer without damaged data. */
export type OnPartial = ((reason: string) => void) | undefined;

/** Options of every read, besides the request. */
export type ReadOptions = {
  readonly counters: SourceCounters;
  /** Counts the memory of the request. */
  readonly memory: RequestMemory;
  readonly kernels: ReadKernels;
  readonly lastRows: LastRows;
  /** The group of a scan that is not read any further. */
  readonly ended?: EndedGroup | undefined;
  readonly onPartial?: OnPartial;
  /** Ends what waits for another thread. */
  readonly signal?: AbortSignal | undefined;
  /** Reads for this thread; absent without one. */
  readonly reader?: LeasedReader | undefined;
};

/**
 * Throws `Corruption` when a shard is damaged. If the engine may answer without damaged data and
 * there is `onPartial`, calls that instead.
 */
export function requireShards(
  { servesDamaged }: Pick<Snapshot, 'servesDamaged'>,
  shards: readonly ShardView[],
  onPartial: OnPartial,
): void {
  for (const { shard } of shards) {
    for (const { damage } of shard.unreadable) fail(damage, servesDamaged ? onPartial : undefined);
  }
}

/**
 * As `requireShards`, for damage that concerns a whole database: entries of its index, or records
 * of the log.
 */
export function requireDatabase(
  { stopped, servesDamaged }: Pick<Snapshot, 'stopped' | 'servesDamaged'>,
  database: string,
  onPartial: OnPartial,
): void {
  const damage = stopped.reason(database);
  if (damage !== undefined) fail(damage, servesDamaged ? onPartial : undefined);
}

function fail(damage: Damage, onPartial: OnPartial): void {
  if (onPartial === undefined) throw unreadable(damage);
  onPartial(partialAnswer(damage));
}
