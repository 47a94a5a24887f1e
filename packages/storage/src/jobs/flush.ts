// Flush: writes the memtables of all shards as segments, then removes the log files that held the
// rows. One runs at a time; the next one continues where a failed one stopped.
import { assert, Unavailable } from '@tidemark/core';

import type { Disk } from '../disk/disk.ts';
import { moveAside } from '../disk/keep-aside.ts';
import { walDirectory } from '../disk/paths.ts';
import type { MemtableTables } from '../memtable/memtables.ts';
import { Pacer } from '../schedule/pacer.ts';
import type { Turns } from '../schedule/turns.ts';
import type { Segment } from '../segment/segment.ts';
import type { IndexFiles } from '../series/index-files.ts';
import type { ShardKeys } from '../shard/shard-keys.ts';
import type { FilesOfShard, Shard } from '../shard/shard.ts';
import type { Database } from '../state/database.ts';
import type { SegmentFiles } from '../state/segment-files.ts';
import type { State } from '../state/state.ts';
import { walFileId, walPath } from '../wal/wal.ts';
import type { Wal } from '../wal/wal.ts';
import type { Checkpoints } from './checkpoints.ts';
import { FlushProgress } from './flush-progress.ts';
import { writeTables } from './flush-writer.ts';

type FrozenShard = {
  readonly shard: Shard;
  readonly tables: MemtableTables;
  readonly sequence: number;
  /** `undefined` until its segment is written. */
  segment: Segment | undefined;
};

/** A flush that has begun. */
type Begun = {
  readonly walStart: number;
  readonly shards: readonly FrozenShard[];
  /** Databases whose rebuilt indexes this flush puts into use. */
  readonly rebuilt: readonly Database[];
};

export type FlushOptions = {
  readonly state: State;
  readonly wal: Wal;
  readonly segmentFiles: SegmentFiles;
  readonly shardKeys: ShardKeys;
  readonly indexFiles: IndexFiles;
  readonly checkpoints: Checkpoints;
  readonly turns: Turns;
  readonly disk: Disk;
  readonly directory: string;
  /** Log files with lost records: they are kept aside instead of removed. */
  readonly damagedLogs: Set<number>;
  /** Aborted when a flush has no time left. */
  readonly signal: AbortSignal;
  readonly fault: (point: string) => Promise<void>;
};

export class Flush {
  readonly #options: FlushOptions;
  #begun: Begun | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;
  readonly counters = { flushes: 0, flushedRows: 0, flushFailures: 0, indexRenewals: 0 };

  constructor(options: FlushOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Resolves when all rows that are in memory now are in segments, and the checkpoints that became
   * due are written.
   */
  async run(): Promise<void> {
    // A flush that is running may have begun before the caller's rows came.
    await this.#running;
    // A failed flush continues without the rows that came later.
    if (this.#begun !== undefined) await this.begin();
    await this.begin();
    await this.#options.checkpoints.idle();
  }

  /** Begins a flush, or joins the running one. Rejects with `Unavailable` when it was closed. */
  begin(): Promise<void> {
    if (this.#running === undefined) {
      if (this.#isClosed) return Promise.reject(new Unavailable('storage is closed'));
      const { memtables } = this.#options.state;
      memtables.flushing(0);
      this.#running = this.#flush().finally(() => {
        this.#running = undefined;
        memtables.flushEnded();
      });
    }
    return this.#running;
  }

  /**
   * Prevents further flushes and resolves when none is running, even after a failure, which its
   * caller gets.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running?.catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const { state, indexFiles, checkpoints, fault } = this.#options;
    const release = state.keepFiles();
    try {
      this.#begun ??= await this.#freeze();
      const flush = this.#begun;
      await this.#writeSegments(flush);
      await fault('flush:segments-written');
      for (const database of state.databases.all()) await this.#persistIndex(database, flush);
      await fault('flush:index-written');
      await this.#commit(flush);
      this.#begun = undefined;
      await this.#removeLogs();
      if (flush.rebuilt.length > 0) indexFiles.removeOthers(state.indexFileIds());
      checkpoints.start();
    } catch (error) {
      this.counters.flushFailures++;
      throw error;
    } finally {
      release();
    }
  }

  /** Freezes the memtables of all shards at one point of the log. */
  async #freeze(): Promise<Begun> {
    const { state, wal } = this.#options;
    let begun: Begun | undefined;
    await wal.rotate((walStart) => {
      const shards: FrozenShard[] = [];
      for (const [shardId, tables] of state.memtables.freeze()) {
        const shard = state.shards.get(shardId);
        assert(shard !== undefined, 'memtables go with their shards');
        const sequence = state.ids.takeSequence();
        state.shards.freeze(shard, sequence);
        shards.push({ shard, tables, sequence, segment: undefined });
      }
      const rebuilt = [...state.databases.all()].filter(({ rebuild }) => rebuild?.isReady);
      begun = { walStart, shards, rebuilt };
    });
    assert(begun !== undefined, 'rotation calls back');
    return begun;
  }

  async #writeSegments({ shards }: Begun): Promise<void> {
    const { state, shardKeys } = this.#options;
    const tables = shards.map((frozen) => frozen.tables);
    const progress = new FlushProgress(tables, (done) => state.memtables.flushing(done));
    for (const frozen of shards) {
      frozen.segment ??= await this.#writeSegment(frozen, progress);
      progress.wrote(frozen.tables);
    }
    for (const { shard, segment } of shards) {
      if (segment === undefined || !state.has(shard)) continue;
      const index = state.databases.get(shard.descriptor.database)?.index;
      if (index === undefined) continue;
      await shardKeys.update(shard, [segment], { index, pacer: this.#pacer() });
    }
  }

  async #writeSegment(
    { shard, tables, sequence }: FrozenShard,
    progress: FlushProgress,
  ): Promise<Segment | undefined> {
    const { state, segmentFiles } = this.#options;
    const { id, database: name } = shard.descriptor;
    const database = state.databases.get(name);
    if (database === undefined || !state.has(shard)) return undefined;
    const fileId = state.ids.takeFileId();
    const sizeBytes = await writeTables(tables, database.index, {
      target: await segmentFiles.target(id, fileId),
      pacer: this.#pacer(),
      onRows: (rows) => progress.wroteRows(rows),
    });
    await segmentFiles.sync(id);
    return segmentFiles.open(id, { fileId, sequence, level: 0, sizeBytes });
  }

  #pacer(): Pacer {
    const { turns, signal } = this.#options;
    return new Pacer(turns, { work: 'flush', signal });
  }

  async #persistIndex(database: Database, { rebuilt }: Begun): Promise<void> {
    const { indexFiles, turns } = this.#options;
    const { rebuild, stored } = database;
    if (rebuild === undefined || !rebuilt.includes(database)) {
      await indexFiles.persist(stored, 'flush');
      return;
    }
    const pacer = new Pacer(turns);
    await rebuild.rebuild.copy(() => pacer.pause(), { leavesDeleted: false });
    await indexFiles.persist(rebuild.stored, 'flush');
  }

  async #commit({ walStart, shards, rebuilt }: Begun): Promise<void> {
    const { state } = this.#options;
    const files = new Map<Shard, () => FilesOfShard>();
    for (const { shard, segment } of shards) {
      if (segment === undefined) continue;
      files.set(shard, () => ({
        segments: [...shard.segments, segment],
        tombstones: shard.tombstones,
      }));
    }
    const flushed = { walStart, shards: shards.map(({ shard }) => shard) };
    const { gone, rebuiltCount } = await state.commit({ flushed, files, rebuilt });
    this.counters.flushes++;
    this.counters.indexRenewals += rebuiltCount;
    for (const { shard, tables, segment } of shards) {
      for (const table of tables.values()) this.counters.flushedRows += table.rows;
      // The manifest may name the file: the drop removes it after writing the next manifest.
      if (gone.has(shard)) segment?.close();
    }
  }

  async #removeLogs(): Promise<void> {
    const { state, wal, disk, directory, damagedLogs } = this.#options;
    const { walStart } = state;
    const damaged: string[] = [];
    for (const name of disk.list(walDirectory(directory))) {
      const id = walFileId(name);
      if (id === undefined || id >= walStart) continue;
      const path = walPath(walDirectory(directory), id);
      if (damagedLogs.delete(id)) damaged.push(path);
      else disk.remove(path);
    }
    if (damaged.length > 0) await moveAside({ disk, directory }, damaged);
    wal.release(walStart);
  }
}
