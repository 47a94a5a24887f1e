// Background work, once a second: flushes memtables that are old or at rest, compacts, rebuilds
// indexes, syncs the log when writes do not, and drops what could not be dropped before.
import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

import type { StorageOptions } from '../options.ts';
import { Pacer } from '../schedule/pacer.ts';
import type { Turns } from '../schedule/turns.ts';
import type { Contents } from '../state/contents.ts';
import type { Wal } from '../wal/wal.ts';
import type { Compaction } from './compaction.ts';
import type { Flush } from './flush.ts';
import type { IndexRebuilds } from './rebuild-indexes.ts';

/** Interval of the background work. */
const STEP_MS = 1000;
/**
 * Memtables with more bytes than this are flushed after no write has come for
 * `data.quiet-flush-after`.
 */
const BURST_BYTES = 1 << 20;
const QUIET_MS = 2000;
/** Rows are flushed when they are this old, however few they are. */
const MAX_AGE_MS = 10 * 60_000;

export type BackgroundOptions = {
  readonly contents: Contents;
  readonly wal: Wal;
  readonly flush: Flush;
  readonly compaction: Compaction;
  readonly rebuilds: IndexRebuilds;
  /** Takes back restores that failed, where that was not possible at once. */
  readonly state: { settle(): Promise<void> };
  /** Retries drops that could not be logged. */
  readonly drops: { retry(): Promise<void> };
  /** Creates the disk reserve if it is missing and there is space. */
  readonly makeReserve: () => Promise<void>;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly log: StorageLog;
  readonly settings: Pick<StorageOptions, 'quietFlushAfterMs' | 'walFsync' | 'walSyncIntervalMs'>;
};

/** Runs until the signal is aborted; failures are logged. */
export async function runBackground(
  options: BackgroundOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, settings } = options;
  const { walFsync, walSyncIntervalMs = STEP_MS } = settings;
  const stepMs = walFsync === 'interval' ? Math.min(walSyncIntervalMs, STEP_MS) : STEP_MS;
  await prepareIndexes(options, signal);
  await options.makeReserve();
  while (!signal.aborted) {
    try {
      await clock.sleep(stepMs, signal);
      await step(options);
    } catch (error) {
      if (!signal.aborted) log('error', 'background work failed', { error });
    }
  }
}

/**
 * Builds the hash tables of indexes that were read from checkpoints, so that the first write does
 * not have to.
 */
async function prepareIndexes(
  { contents, turns }: BackgroundOptions,
  signal: AbortSignal,
): Promise<void> {
  const pacer = new Pacer(turns);
  for (const { stored } of contents.databases.all()) {
    if (!stored.isRead) continue;
    const { keys } = stored.index;
    while (!signal.aborted && keys.prepareSome()) await pacer.pause();
  }
}

async function step(options: BackgroundOptions): Promise<void> {
  const { contents, wal, flush, compaction, rebuilds, state, drops, clock, settings } = options;
  await options.makeReserve();
  const { quietFlushAfterMs = QUIET_MS } = settings;
  const ages = contents.memtables.ages(clock.monotonicMs());
  if (ages !== undefined) {
    const isQuiet = quietFlushAfterMs > 0 && ages.newestMs > quietFlushAfterMs;
    const hasBurst = isQuiet && contents.memtables.bytes > BURST_BYTES;
    if (hasBurst || ages.oldestMs > MAX_AGE_MS) await flush.run();
  }
  if (settings.walFsync === 'interval') await wal.syncNow();
  await compaction.run({ all: false });
  await rebuilds.run();
  await state.settle();
  await drops.retry();
}
