// Rebuilds series indexes that consist largely of deleted series (docs/adr/0010-rebuilt-index.md).
import type { Clock } from '@tidemark/core';

import { Pacer } from '../schedule/pacer.ts';
import type { Turns } from '../schedule/turns.ts';
import type { IndexFiles } from '../series/index-files.ts';
import type { Database } from '../state/database.ts';
import type { State } from '../state/state.ts';

/** Wait after a failed rebuild. */
const RETRY_MS = 60_000;

export type IndexRebuildsOptions = {
  readonly state: State;
  readonly indexFiles: IndexFiles;
  readonly wal: { syncNow(): Promise<void> };
  readonly flush: { run(): Promise<void> };
  readonly turns: Turns;
  readonly clock: Clock;
  /** Number of deleted series from which on an index is rebuilt. */
  readonly deletedSeriesMin: number;
  /** Aborted when the engine closes. */
  readonly signal: AbortSignal;
  readonly fault: (point: string) => Promise<void>;
};

export class IndexRebuilds {
  readonly #options: IndexRebuildsOptions;
  #notBeforeMs = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(options: IndexRebuildsOptions) {
    this.#options = options;
  }

  /** Forgets deleted series, and rebuilds indexes that need it. */
  run(): Promise<void> {
    const next = this.#running.then(() => this.#rebuildAll());
    this.#running = next.catch(() => undefined);
    return next;
  }

  /** Resolves when none is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #rebuildAll(): Promise<void> {
    const { state, clock, turns, deletedSeriesMin, signal } = this.#options;
    for (const database of state.databases.all()) {
      // Deletes do not forget series, because a write in progress may bring them back.
      await new Pacer(turns).run(database.deleteEmpty());
      if (clock.monotonicMs() < this.#notBeforeMs || signal.aborted) return;
      if (!database.needsRebuild(deletedSeriesMin)) continue;
      if (state.stopped.reason(database.name) !== undefined) continue;
      // Series of segments that cannot be opened look deleted: repair may bring them back.
      const shards = state.shards.ofDatabase(database.name);
      if (shards.some(({ damage }) => damage !== undefined)) continue;
      await this.#rebuild(database);
    }
  }

  async #rebuild(database: Database): Promise<void> {
    const { state, wal, indexFiles, clock, flush, signal, fault } = this.#options;
    const pending = database.beginRebuild(state.ids.takeInstance());
    const pacer = new Pacer(this.#options.turns);
    try {
      await pending.rebuild.copy(() => pacer.pause(), { leavesDeleted: true, signal });
      if (!signal.aborted) {
        await indexFiles.persist(pending.stored, 'background');
        const syncLog = (): Promise<void> => wal.syncNow();
        await indexFiles.checkpoint(pending.stored, { isClosing: false, signal, syncLog });
        await fault('rebuild:copied');
        pending.isReady = !signal.aborted && state.databases.has(database);
      }
    } catch (error) {
      this.#notBeforeMs = clock.monotonicMs() + RETRY_MS;
      throw error;
    } finally {
      if (!pending.isReady) {
        database.abandonRebuild();
        indexFiles.removeOthers(state.indexFileIds());
      }
    }
    // Older log records may name series that it lacks: the flush releases them in the same commit.
    // A flush that continues a failed one adopts nothing.
    while (database.rebuild === pending && state.databases.has(database)) {
      if (signal.aborted) return;
      await flush.run();
    }
    await fault('rebuild:adopted');
  }
}
