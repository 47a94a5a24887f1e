// What a request needs is damaged: it fails, or its answer is marked. Every read of points or of
// the schema passes here before it looks at a series, because what a segment holds that can not be
// opened is not known.
import type { SourceCounters } from '@tidemark/query';

import { partialAnswer, unreadable } from '../damage.ts';
import type { Damage } from '../damage.ts';
import type { ReadKernels } from '../columns/read-kernels.ts';
import type { LastRows } from './last-rows.ts';
import type { RequestMemory } from './request-memory.ts';
import type { ShardView, Snapshot } from '../state/snapshot.ts';

/** Told that an answer lacks something, where the source is set to answer nevertheless. */
export type OnPartial = ((reason: string) => void) | undefined;

/** What a read is given besides the request. */
export type ReadOptions = {
  readonly counters: SourceCounters;
  /** What it holds. */
  readonly memory: RequestMemory;
  readonly kernels: ReadKernels;
  readonly lastRows: LastRows;
  readonly onPartial?: OnPartial;
};

/**
 * Throws `Corruption` when a shard is damaged, unless the engine is set to answer without it and
 * `onPartial` is there.
 */
export function needShards(
  { servesDamaged }: Pick<Snapshot, 'servesDamaged'>,
  shards: readonly ShardView[],
  onPartial: OnPartial,
): void {
  for (const { shard } of shards) {
    for (const { damage } of shard.unreadable) need(damage, servesDamaged ? onPartial : undefined);
  }
}

/**
 * As `needShards`, for what concerns the whole database: entries of its index, or records of the
 * log.
 */
export function needDatabase(
  { stopped, servesDamaged }: Pick<Snapshot, 'stopped' | 'servesDamaged'>,
  database: string,
  onPartial: OnPartial,
): void {
  const damage = stopped.reason(database);
  if (damage !== undefined) need(damage, servesDamaged ? onPartial : undefined);
}

function need(damage: Damage, onPartial: OnPartial): void {
  if (onPartial === undefined) throw unreadable(damage);
  onPartial(partialAnswer(damage));
}
