// Flush, compaction and the manifest: what moves rows from the log and the memtable into segments
// and keeps the number of files small. One of each runs at a time; commits of the manifest follow
// each other.
import { assert } from '@tidemark/core';

import { moveAside } from '../disk/keep-aside.ts';
import { writeManifest } from '../manifest/manifest.ts';
import type { Manifest, ManifestShard } from '../manifest/manifest.ts';
import { ShardFiles } from '../manifest/shard-file.ts';
import type { PageCache } from '../segment/page-cache.ts';
import { Segment } from '../segment/segment.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import type { MemtableTables, Shard } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import { walFileId, walPath } from '../wal/wal.ts';
import { compactSegments, planCompaction } from '../jobs/compaction.ts';
import type { Database, PendingIndex } from '../state/database.ts';
import type { Engine } from './engine.ts';
import { writeTables } from '../jobs/flush-writer.ts';
import { Pacer } from '../schedule/pacer.ts';
import { segmentPath, shardDirectory, walDirectory } from '../disk/paths.ts';
import { ShardKeys } from '../shard/shard-keys.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { StoredIndex } from '../series/stored-index.ts';
import type { Work } from '../schedule/turns.ts';

type FrozenShard = {
  readonly shard: Shard;
  readonly tables: MemtableTables;
  readonly sequence: number;
  /** Set when its segment is written. */
  segment: Segment | undefined;
};

/** A flush that has begun; it is taken up again when writing it failed. */
type FlushJob = {
  readonly walStart: number;
  readonly shards: readonly FrozenShard[];
  /** Databases whose renewed indexes it makes the present ones. */
  readonly renewals: readonly Database[];
};

/** Databases with their shards that come in as a whole. */
type Adoption = { readonly databases: readonly Database[]; readonly shards: readonly Shard[] };

/** What a commit changes besides the shards' present state. */
type Change = {
  readonly walStart?: number | undefined;
  readonly segments: ReadonlyMap<number, readonly SegmentInfo[]>;
  readonly tombstones?: ReadonlyMap<number, readonly Tombstone[]> | undefined;
  readonly renewals?: readonly Database[] | undefined;
  readonly adopted?: Adoption | undefined;
};

const NO_CHANGE: Change = { segments: new Map() };
/** A shard without writes for this long is at rest and becomes one segment. */
const REST_MS = 5000;
/** After a renewal of an index failed. */
const RENEWAL_RETRY_MS = 60_000;

export class Maintenance {
  readonly #engine: Engine;
  readonly #pages: PageCache;
  #job: FlushJob | undefined;
  #flushing: Promise<void> | undefined;
  #checkpointing: Promise<void> | undefined;
  #compacting: Promise<void> | undefined;
  #commits: Promise<void> = Promise.resolve();
  readonly #shardFiles: ShardFiles;
  readonly #shardKeys: ShardKeys;
  #walStart: number;
  #renewAfterMs = 0;
  readonly counters = {
    flushes: 0,
    flushedRows: 0,
    compactions: 0,
    flushFailures: 0,
    indexRenewals: 0,
  };

  constructor(engine: Engine, pages: PageCache, walStart: number) {
    this.#engine = engine;
    this.#pages = pages;
    this.#walStart = walStart;
    const { disk } = engine.environment;
    this.#shardFiles = new ShardFiles(disk, engine.directory, engine.log);
    this.#shardKeys = new ShardKeys(disk, engine.directory);
  }

  get isFlushing(): boolean {
    return this.#flushing !== undefined;
  }

  /**
   * Everything that is in memory now is in segments when it resolves, and checkpoints that it made
   * due are written.
   */
  async flush(): Promise<void> {
    // The one that runs may have begun before the rows that the caller means.
    await this.#flushing;
    await this.flushOnce();
    await this.#checkpointing;
  }

  /** Begins a flush, or joins the one that runs. */
  flushOnce(): Promise<void> {
    if (this.#flushing === undefined) {
      this.#engine.backPressure.flushing(0);
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined;
        this.#engine.backPressure.flushEnded();
      });
    }
    return this.#flushing;
  }

  /** Merges segments until nothing needs to be done. `all` treats every shard as one at rest. */
  compact(options: { readonly all: boolean }): Promise<void> {
    const previous = this.#compacting ?? Promise.resolve();
    const next = previous.then(() => this.#compactAll(options.all));
    const settled = next
      .catch(() => undefined)
      .then(() => {
        if (this.#compacting === settled) this.#compacting = undefined;
      });
    this.#compacting = settled;
    return next;
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    await this.#compacting;
    await this.#flushing?.catch(() => undefined);
    await this.#checkpointing;
    await this.#commits;
  }

  async #flush(): Promise<void> {
    const engine = this.#engine;
    try {
      this.#job ??= await this.#freeze();
      const job = this.#job;
      const progress = new FlushProgress(job.shards, (done) => engine.backPressure.flushing(done));
      for (const frozen of job.shards) {
        frozen.segment ??= await this.#writeSegment(frozen, progress);
        progress.wrote(frozen);
      }
      for (const { shard, segment } of job.shards) {
        if (segment === undefined || engine.shards.get(shard.descriptor.id) !== shard) continue;
        await this.persistKeys(shard, [segment], { index: this.#indexOf(shard), work: 'flush' });
      }
      await engine.fault('flush:segments-written');
      for (const database of engine.databases.values()) await this.#persistIndex(database, job);
      await engine.fault('flush:index-written');
      await this.#commitFlush(job);
      this.#job = undefined;
      await this.#removeLogs();
      if (job.renewals.length > 0) engine.removeOrphanIndexes();
      this.#startCheckpoints();
    } catch (error) {
      this.counters.flushFailures++;
      throw error;
    }
  }

  /** Ends the memtables of all shards at one point of the log. */
  async #freeze(): Promise<FlushJob> {
    const engine = this.#engine;
    let job: FlushJob | undefined;
    await engine.wal.rotate((walStart) => {
      const shards: FrozenShard[] = [];
      for (const shard of engine.shards.all()) {
        if (shard.active.size === 0) continue;
        const tables = shard.freeze();
        const sequence = engine.takeSequence();
        shards.push({ shard, tables, sequence, segment: undefined });
      }
      engine.memtableBytes = 0;
      const renewals = [...engine.databases.values()].filter(({ pending }) => pending?.isReady);
      job = { walStart, shards, renewals };
    });
    assert(job !== undefined, 'rotation calls back');
    return job;
  }

  /** Of indexes that have grown much, beside whatever else is done. Failures are logged. */
  #startCheckpoints(): void {
    this.#checkpointing ??= this.#checkpointAll().finally(() => {
      this.#checkpointing = undefined;
    });
  }

  async #checkpointAll(): Promise<void> {
    const engine = this.#engine;
    const signal = engine.stopping.background;
    for (const { name, stored } of engine.databases.values()) {
      await engine.indexFiles.checkpoint(stored, { isClosing: false, signal });
      // Dropped or renewed meanwhile.
      if (engine.databases.get(name)?.stored !== stored) engine.removeOrphanIndexes();
    }
  }

  async #writeSegment(
    { shard, tables, sequence }: FrozenShard,
    progress: FlushProgress,
  ): Promise<Segment | undefined> {
    const engine = this.#engine;
    const { id, database: name } = shard.descriptor;
    const database = engine.databases.get(name);
    if (database === undefined || engine.shards.get(id) !== shard) return undefined;
    const { disk } = engine.environment;
    const fileId = engine.takeFileId();
    const path = segmentPath(engine.directory, id, fileId);
    await this.#makeShardDirectory(id);
    const sizeBytes = await writeTables(tables, database.index, {
      target: { disk, path, shardId: id },
      pacer: new Pacer(engine.turns, { work: 'flush', signal: engine.stopping.flushes }),
      onRows: (rows) => progress.wroteRows(rows),
    });
    await disk.syncDirectory(shardDirectory(engine.directory, id));
    return this.openSegment(id, { fileId, sequence, level: 0, sizeBytes });
  }

  async #makeShardDirectory(shardId: number): Promise<void> {
    const { disk } = this.#engine.environment;
    const path = shardDirectory(this.#engine.directory, shardId);
    if (disk.exists(path)) return;
    disk.makeDirectory(path);
    await disk.syncDirectory(`${this.#engine.directory}/shards`);
  }

  openSegment(shardId: number, info: SegmentInfo): Segment {
    const { disk } = this.#engine.environment;
    const file = disk.open(segmentPath(this.#engine.directory, shardId, info.fileId), 'read');
    try {
      return Segment.open(info, file, this.#pages);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  async #commitFlush(job: FlushJob): Promise<void> {
    await this.#commit(
      () => {
        const segments = new Map<number, readonly SegmentInfo[]>();
        for (const { shard, segment } of job.shards) {
          if (segment === undefined) continue;
          segments.set(
            shard.descriptor.id,
            [...shard.segments, segment].map((s) => s.info),
          );
        }
        return { walStart: job.walStart, segments, renewals: job.renewals };
      },
      () => {
        this.#walStart = job.walStart;
        this.counters.flushes++;
        for (const { shard, tables, segment } of job.shards) {
          shard.frozen = undefined;
          for (const table of tables.values()) this.counters.flushedRows += table.rows;
          if (segment === undefined) continue;
          if (this.#engine.shards.get(shard.descriptor.id) === shard) {
            shard.segments = [...shard.segments, segment];
          } else this.#retire(shard.descriptor.id, [segment]);
        }
        for (const database of job.renewals) this.#adoptIndex(database);
      },
    );
  }

  /**
   * Makes the keys of the series durable that the shard's segments and `added` hold; before a
   * commit that names those.
   */
  async persistKeys(
    shard: Shard,
    added: readonly Segment[],
    { index, work }: { readonly index: SeriesIndex | undefined; readonly work: Work },
  ): Promise<void> {
    if (index === undefined) return;
    const { turns, stopping } = this.#engine;
    const pacer = new Pacer(turns, { work, signal: stopping.flushes });
    await this.#shardKeys.update(shard, added, { index, pacer });
  }

  #indexOf({ descriptor }: Shard): SeriesIndex | undefined {
    return this.#engine.databases.get(descriptor.database)?.index;
  }

  async #persistIndex(database: Database, { renewals }: FlushJob): Promise<void> {
    const { pending } = database;
    if (pending === undefined || !renewals.includes(database)) {
      await this.#engine.indexFiles.persist(database.stored, 'flush');
      return;
    }
    await this.#copyIndex(pending);
    await this.#engine.indexFiles.persist(pending.stored, 'flush');
  }

  /** Copies what is there now; what comes meanwhile is left for the next time. */
  async #copyIndex({ renewal }: PendingIndex, signal?: AbortSignal): Promise<void> {
    const pacer = new Pacer(this.#engine.turns);
    const end = renewal.sourceEnd;
    while (renewal.copySome(end) && signal?.aborted !== true) await pacer.pause();
  }

  /**
   * What the memtable knows of series by their places is made anew; there is little in it right
   * after a flush.
   */
  #adoptIndex(database: Database): void {
    const engine = this.#engine;
    if (engine.databases.get(database.name) !== database) return;
    database.adoptPending();
    this.counters.indexRenewals++;
    for (const shard of engine.shards.ofDatabase(database.name)) {
      const active: MemtableTables = new Map();
      for (const [id, table] of shard.active) {
        const renewed = table.withOrdinals(database.index);
        engine.memtableBytes += renewed.memoryBytes - table.memoryBytes;
        active.set(id, renewed);
      }
      shard.active = active;
    }
  }

  /**
   * Makes indexes anew of which much is deleted series (docs/adr/0010-renewed-index.md), unless
   * `signal` ends it.
   */
  async renewIndexes(signal: AbortSignal): Promise<void> {
    const engine = this.#engine;
    for (const database of engine.databases.values()) {
      const now = engine.environment.clock.monotonicMs();
      if (now < this.#renewAfterMs || signal.aborted) return;
      if (!database.needsRenewal(engine.deadSeriesMin)) continue;
      if (engine.stopped.reason(database.name) !== undefined) continue;
      // Series of segments that can not be opened look deleted: repair may bring them back.
      const shards = engine.shards.ofDatabase(database.name);
      if (shards.some(({ damage }) => damage !== undefined)) continue;
      await this.#renewIndex(database, signal);
    }
  }

  async #renewIndex(database: Database, signal: AbortSignal): Promise<void> {
    const engine = this.#engine;
    const pending = database.beginRenewal(engine.takeInstance());
    try {
      await this.#copyIndex(pending, signal);
      if (!signal.aborted) {
        await engine.indexFiles.persist(pending.stored, 'background');
        await engine.indexFiles.checkpoint(pending.stored, { isClosing: false, signal });
        await engine.fault('renewal:copied');
        pending.isReady = !signal.aborted && engine.databases.get(database.name) === database;
      }
    } catch (error) {
      this.#renewAfterMs = engine.environment.clock.monotonicMs() + RENEWAL_RETRY_MS;
      throw error;
    } finally {
      if (!pending.isReady) {
        database.abandonRenewal();
        engine.removeOrphanIndexes();
      }
    }
    // Log records from before it may speak of series that it lacks: the flush lets go of them in
    // the same commit. One that had failed is taken up where it was and adopts nothing.
    while (database.pending === pending && engine.databases.get(database.name) === database) {
      if (signal.aborted) return;
      await this.flush();
    }
    await engine.fault('renewal:adopted');
  }

  async #removeLogs(): Promise<void> {
    const { environment, directory, damagedLogs, wal } = this.#engine;
    const { disk } = environment;
    const damaged: string[] = [];
    for (const name of disk.list(walDirectory(directory))) {
      const id = walFileId(name);
      if (id === undefined || id >= this.#walStart) continue;
      const path = walPath(walDirectory(directory), id);
      if (damagedLogs.delete(id)) damaged.push(path);
      else disk.remove(path);
    }
    if (damaged.length > 0) await moveAside({ disk, directory }, damaged);
    wal.release(this.#walStart);
  }

  async #compactAll(all: boolean): Promise<void> {
    const now = this.#engine.environment.clock.monotonicMs();
    for (const shard of this.#engine.shards.all()) {
      for (;;) {
        const isAtRest = all || now - shard.lastWriteMs > REST_MS;
        const hasTombstones = shard.tombstones.length > 0;
        const inputs = planCompaction(shard.segments, { isAtRest, hasTombstones });
        if (inputs === undefined || shard.damage !== undefined) break;
        await this.#compactShard(shard, inputs);
      }
    }
  }

  async #compactShard(shard: Shard, inputs: readonly Segment[]): Promise<void> {
    const engine = this.#engine;
    const { disk } = engine.environment;
    const { id } = shard.descriptor;
    const { tombstones } = shard;
    const fileId = engine.takeFileId();
    const path = segmentPath(engine.directory, id, fileId);
    const sizeBytes = await compactSegments(inputs, tombstones, {
      target: { disk, path, shardId: id },
      pacer: new Pacer(engine.turns, { signal: engine.stopping.background }),
    });
    await engine.fault('compaction:segment-written');
    await disk.syncDirectory(shardDirectory(engine.directory, id));
    const sequence = Math.max(...inputs.map((segment) => segment.info.sequence));
    const level = Math.max(...inputs.map((segment) => segment.info.level)) + 1;
    const output = this.openSegment(id, { fileId, sequence, level, sizeBytes });
    if (shard.seriesFileBytes === undefined && engine.shards.get(id) === shard) {
      await this.persistKeys(shard, [], { index: this.#indexOf(shard), work: 'background' });
    }
    const replaced = (): readonly Segment[] => {
      const at = shard.segments.indexOf(inputs[0]!);
      return [...shard.segments.slice(0, at), output, ...shard.segments.slice(at + inputs.length)];
    };
    // Tombstones are done with when no older segment is left that still holds the rows.
    const isWhole = (): boolean => shard.segments.indexOf(inputs[0]!) === 0;
    const remaining = (): readonly Tombstone[] =>
      isWhole()
        ? shard.tombstones.filter(
            (t) => !tombstones.includes(t) || isNeeded(t, replaced().slice(1)),
          )
        : shard.tombstones;
    await this.#commit(
      () => ({
        segments: new Map([[id, replaced().map((segment) => segment.info)]]),
        tombstones: new Map([[id, remaining()]]),
      }),
      () => {
        this.counters.compactions++;
        if (engine.shards.get(id) !== shard) {
          this.#retire(id, [output]);
          return;
        }
        const kept = remaining();
        shard.segments = replaced();
        shard.tombstones = kept;
        this.#retire(id, inputs);
      },
    );
    await engine.fault('compaction:committed');
  }

  /** Files are removed when the last reader is gone. */
  #retire(shardId: number, segments: readonly Segment[]): void {
    const { disk } = this.#engine.environment;
    this.#engine.reclaimer.retire(() => {
      for (const segment of segments) {
        segment.close();
        disk.remove(segmentPath(this.#engine.directory, shardId, segment.info.fileId));
      }
    });
  }

  /** Forgets dropped shards on disk too. */
  async commitDrops(shards: readonly Shard[]): Promise<void> {
    await this.#commit(
      () => NO_CHANGE,
      () => {
        const { disk } = this.#engine.environment;
        this.#engine.reclaimer.retire(() => {
          for (const shard of shards) {
            for (const segment of shard.segments) segment.close();
            disk.removeDirectory(shardDirectory(this.#engine.directory, shard.descriptor.id));
          }
        });
      },
    );
  }

  /** Makes restored databases part of the state. */
  commitAdoption(adopted: Adoption): Promise<void> {
    return this.#commit(
      () => ({ ...NO_CHANGE, adopted }),
      () => {
        for (const database of adopted.databases) this.#engine.adoptDatabase(database);
        for (const shard of adopted.shards) this.#engine.shards.adopt(shard);
      },
    );
  }

  /**
   * Writes the manifest with the change applied, then applies it in memory. Commits never overlap.
   */
  #commit(change: () => Change, apply: () => void): Promise<void> {
    const next = this.#commits.then(async () => {
      const engine = this.#engine;
      await engine.fault('manifest:before');
      const manifest = this.manifest(change());
      const { disk } = engine.environment;
      // What it names makes older files superfluous, logs among them.
      await engine.reserve.use(() => writeManifest(disk, engine.directory, manifest));
      apply();
      await this.#updateShardFiles(manifest);
      await engine.fault('manifest:after');
    });
    this.#commits = next.catch(() => undefined);
    return next;
  }

  /** The commit has happened: files that only `repair` reads do not undo it. */
  async #updateShardFiles(manifest: Manifest): Promise<void> {
    try {
      await this.#shardFiles.update(manifest);
    } catch (error) {
      this.#engine.log('warn', 'files of shards could not be written', { error });
    }
  }

  /** The manifest of the present state, with a change applied. */
  manifest(change: Change = NO_CHANGE): Manifest {
    const engine = this.#engine;
    const shards: ManifestShard[] = [];
    const adopted = change.adopted ?? { databases: [], shards: [] };
    for (const shard of [...engine.shards.all(), ...adopted.shards]) {
      const { descriptor } = shard;
      const segments = change.segments.get(descriptor.id) ?? shard.segments.map((s) => s.info);
      shards.push({
        descriptor,
        segments: withUnreadable(shard, segments),
        tombstones: change.tombstones?.get(descriptor.id) ?? shard.tombstones,
        seriesFileBytes: shard.seriesFileBytes,
      });
    }
    const databases = [...engine.databases.values(), ...adopted.databases];
    const storedOf = (database: Database): StoredIndex =>
      (change.renewals?.includes(database) === true ? database.pending?.stored : undefined) ??
      database.stored;
    const stopped = engine.stopped.list();
    return {
      storageId: engine.storageId,
      walStart: change.walStart ?? this.#walStart,
      ...engine.nextIds(),
      nextShardId: engine.shards.nextId,
      databases: databases.map((database) => database.manifestRef(storedOf(database))),
      shards,
      hasLogList: engine.wal.hasList,
      ...(stopped.length === 0 ? {} : { stopped }),
    };
  }
}

/** Of what a flush takes, writing the segments; the rest is the index and the manifest. */
const SEGMENTS_SHARE = 0.9;

/** How much of a flush is done. */
class FlushProgress {
  readonly #total: number;
  readonly #report: (done: number) => void;
  #rows = 0;
  /** Rows of shards that are written whole. */
  #whole = 0;

  constructor(shards: readonly FrozenShard[], report: (done: number) => void) {
    this.#total = shards.reduce((sum, frozen) => sum + rowsOf(frozen), 0);
    this.#report = report;
  }

  wroteRows(count: number): void {
    this.#rows += count;
    this.#report((SEGMENTS_SHARE * this.#rows) / Math.max(1, this.#total));
  }

  /** Also what an earlier attempt has written. */
  wrote(frozen: FrozenShard): void {
    this.#whole += rowsOf(frozen);
    this.wroteRows(this.#whole - this.#rows);
  }
}

function rowsOf({ tables }: FrozenShard): number {
  let rows = 0;
  for (const table of tables.values()) rows += table.rows;
  return rows;
}

/** Segments that can not be read keep their place in the order of writes. */
function withUnreadable(
  { unreadable }: Shard,
  segments: readonly SegmentInfo[],
): readonly SegmentInfo[] {
  if (unreadable.length === 0) return segments;
  const hidden = unreadable.map(({ info }) => info);
  return [...segments, ...hidden].sort((a, b) => a.sequence - b.sequence);
}

function isNeeded(tombstone: Tombstone, segments: readonly Segment[]): boolean {
  return segments.some((segment) => segment.info.sequence < tombstone.sequence);
}
