// The engine, single-threaded: one owner of log, memtable, shards and index. Runs in the storage
// thread or inline.
import { assert, Conflict, Unavailable } from '@tidemark/core';

import { unchangeable } from '../damage.ts';
import type { Damage } from '../damage.ts';
import { DiskReserve } from '../disk/reserve.ts';
import { LIMITS } from '../limits.ts';
import type { StorageEnvironment, StorageLog, StorageOptions } from '../options.ts';
import type { Segment } from '../segment/segment.ts';
import type { ManifestDatabase } from '../manifest/manifest.ts';
import { PostingsCache } from '../series/postings-cache.ts';
import { MemoryTotal } from '../read/request-memory.ts';
import { ShardStore } from '../shard/shard-store.ts';
import type {
  BackupRequest,
  DatabaseStatistics,
  DeleteRequest,
  PolicyRef,
  RestoreReport,
  RestoreRequest,
  ShardInfo,
  StorageStatistics,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '../storage-engine.ts';
import { Wal } from '../wal/wal.ts';
import { adoptBackup } from '../jobs/restore.ts';
import { createBackup } from '../backup/create.ts';
import { BackPressure } from '../memtable/back-pressure.ts';
import { Database } from '../state/database.ts';
import { deleteRows, dropMeasurement, dropShards } from '../write/deletes.ts';
import { IndexFiles } from '../series/index-files.ts';
import type { Maintenance } from './maintenance.ts';
import { Pacer } from '../schedule/pacer.ts';
import { reservePath, walDirectory } from '../disk/paths.ts';
import { Reclaimer } from '../state/reclaimer.ts';
import { recover } from './recovery.ts';
import { takeSnapshot } from '../state/snapshot.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { StoredIndex } from '../series/stored-index.ts';
import { StoppedDatabases } from '../state/stopped-databases.ts';
import { flushAtEnd, Stopping } from '../jobs/stopping.ts';
import { Turns } from '../schedule/turns.ts';
import { Writes } from '../write/writes.ts';

export class Engine {
  readonly shards = new ShardStore();
  readonly databases = new Map<string, Database>();
  readonly reclaimer = new Reclaimer();
  readonly turns: Turns;
  readonly backPressure: BackPressure;
  /** Room on the disk for what frees space. */
  readonly reserve: DiskReserve;
  readonly indexFiles: IndexFiles;
  readonly stopping = new Stopping();
  readonly stopped = new StoppedDatabases();
  /** Log files of which something is lost: they are kept when they are not needed any more. */
  readonly damagedLogs = new Set<number>();
  readonly environment: StorageEnvironment;
  readonly directory: string;
  /** Names this directory for ever; a copy of the directory has the same. */
  storageId = '';
  /** What requests hold that run. */
  readonly requestMemory: MemoryTotal;
  /** Bytes of the active memtables. */
  memtableBytes = 0;
  readonly #options: StorageOptions;
  readonly #writes: Writes;
  readonly log: StorageLog;
  readonly #postings: PostingsCache;
  readonly #restoring = new Set<Database>();
  #backgroundDone: Promise<void> = Promise.resolve();
  #maintenance: Maintenance | undefined;
  #nextFileId = 1;
  #nextSequence = 1;
  #wal: Wal | undefined;
  #nextInstance = 1;
  #isClosed = false;

  constructor(options: StorageOptions, environment: StorageEnvironment) {
    this.#options = options;
    this.environment = environment;
    this.turns = new Turns({ clock: environment.clock, sliceMs: LIMITS.sliceMs.value });
    this.directory = options.directory;
    this.#postings = new PostingsCache(options.indexCacheBytes ?? LIMITS.indexCacheBytes.value);
    this.log = options.log ?? (() => undefined);
    const { disk } = environment;
    const { directory, turns } = this;
    this.indexFiles = new IndexFiles({ disk, directory, turns, log: this.log });
    this.reserve = new DiskReserve({
      disk,
      path: reservePath(directory),
      sizeBytes: options.reserveBytes ?? 0,
      log: this.log,
    });
    this.requestMemory = new MemoryTotal(
      options.requestMemoryBytes ?? LIMITS.totalRequestMemoryBytes.value,
    );
    const memtableMaxBytes = options.memtableMaxBytes ?? LIMITS.memtableBytes.value;
    this.backPressure = new BackPressure(memtableMaxBytes, () => this.memtableBytes);
    this.#writes = new Writes(this, options, memtableMaxBytes);
  }

  /** Reads what is on disk; nothing else may be called before. */
  async open(): Promise<void> {
    const recovered = await recover(this, this.log);
    this.#maintenance = recovered.maintenance;
    this.#wal = new Wal({
      disk: this.environment.disk,
      directory: walDirectory(this.directory),
      firstFileId: recovered.nextWalFileId,
      listed: recovered.listedLogs,
      fsync: this.#options.walFsync ?? 'always',
      log: (message, error) => this.log('error', message, { error }),
    });
    if (this.#options.hasBackgroundWork !== false) this.#backgroundDone = this.#runBackground();
  }

  /** Deleted series that an index is renewed for. */
  get deadSeriesMin(): number {
    return this.#options.deadSeriesMin ?? LIMITS.deadSeries.value;
  }

  get servesDamaged(): boolean {
    return this.#options.servesDamaged ?? false;
  }

  /** What could not be read when the engine was opened. */
  async damage(): Promise<readonly Damage[]> {
    const segments = [...this.shards.all()].flatMap(({ unreadable }) => unreadable);
    return [...this.stopped.list(), ...segments.map(({ damage }) => damage)];
  }

  /** `undefined` until the engine is open. */
  get maintenance(): Maintenance | undefined {
    return this.#maintenance;
  }

  get wal(): Wal {
    assert(this.#wal !== undefined, 'the engine is open');
    return this.#wal;
  }

  takeFileId(): number {
    return this.#nextFileId++;
  }

  /** Orders segments and tombstones by the time of their writes. */
  takeSequence(): number {
    return this.#nextSequence++;
  }

  nextIds(): { nextFileId: number; nextSequence: number; nextInstance: number } {
    return {
      nextFileId: this.#nextFileId,
      nextSequence: this.#nextSequence,
      nextInstance: this.#nextInstance,
    };
  }

  /** Ids below these are taken. */
  reserveIds(ids: { nextFileId: number; nextSequence: number; nextInstance: number }): void {
    this.#nextFileId = Math.max(this.#nextFileId, ids.nextFileId);
    this.#nextSequence = Math.max(this.#nextSequence, ids.nextSequence);
    this.#nextInstance = Math.max(this.#nextInstance, ids.nextInstance);
  }

  async fault(point: string): Promise<void> {
    await this.environment.fault?.(point);
  }

  /** The database that a write goes to. Throws `Corruption` when it is stopped. */
  database(name: string): Database {
    this.needUnstopped(name);
    if (this.#restoring.size > 0 && this.#isRestoring(name)) {
      throw new Unavailable(`database is being restored. database=\`${name}\``);
    }
    let database = this.databases.get(name);
    if (database === undefined) {
      database = this.addDatabase({ name, instance: this.takeInstance() });
    }
    return database;
  }

  /** Throws `Corruption` when the database must not be changed. */
  needUnstopped(database: string): void {
    const damage = this.stopped.reason(database);
    if (damage !== undefined) throw unchangeable(damage);
  }

  /** Numbers of databases, and of the files of their indexes. */
  takeInstance(): number {
    return this.#nextInstance++;
  }

  addDatabase(ref: ManifestDatabase): Database {
    const database = this.#newDatabase(ref);
    this.databases.set(ref.name, database);
    return database;
  }

  #newDatabase({ name, instance, indexFile = instance }: ManifestDatabase): Database {
    this.#nextInstance = Math.max(this.#nextInstance, instance + 1, indexFile + 1);
    const ref = { name, instance, indexFile };
    return new Database(ref, {
      allowUnsigned: this.#options.allowUnsigned ?? false,
      fieldTypes: this.#options.fieldTypes ?? 'shard',
      maxShards: this.#options.maxShardsPerWrite ?? LIMITS.shardsPerWrite.value,
      maxBadLines: this.#options.maxBadLines ?? LIMITS.badLines.value,
      postings: this.#postings,
    });
  }

  /**
   * A database that is being restored: it has a number and its name is taken, but it is not
   * visible. Throws `Conflict` when there is data under the name; an empty database gives way to
   * what is adopted.
   */
  reserveDatabase(name: string): Database {
    const known = this.databases.get(name);
    const hasData =
      known !== undefined && (known.index.seriesEnd > 0 || this.shards.ofDatabase(name).length > 0);
    if (hasData || this.#isRestoring(name)) {
      throw new Conflict(`database exists already. database=\`${name}\``);
    }
    const database = this.#newDatabase({ name, instance: this.takeInstance() });
    this.#restoring.add(database);
    return database;
  }

  #isRestoring(name: string): boolean {
    for (const database of this.#restoring) if (database.name === name) return true;
    return false;
  }

  releaseDatabase(database: Database): void {
    this.#restoring.delete(database);
  }

  /** Makes a restored database visible. */
  adoptDatabase(database: Database): void {
    this.#restoring.delete(database);
    this.databases.set(database.name, database);
  }

  async #runBackground(): Promise<void> {
    const { clock } = this.environment;
    const signal = this.stopping.background;
    const { walFsync, walSyncIntervalMs = BACKGROUND_STEP_MS } = this.#options;
    const stepMs =
      walFsync === 'interval'
        ? Math.min(walSyncIntervalMs, BACKGROUND_STEP_MS)
        : BACKGROUND_STEP_MS;
    await this.#prepareIndexes(signal);
    await this.makeReserve();
    while (!signal.aborted) {
      try {
        await clock.sleep(stepMs, signal);
        await this.#backgroundStep();
      } catch (error) {
        if (!signal.aborted) this.log('error', 'background work failed', { error });
      }
    }
  }

  /**
   * Hash tables of indexes that were read from checkpoints, so that the first write does not wait
   * for them.
   */
  async #prepareIndexes(signal: AbortSignal): Promise<void> {
    const pacer = new Pacer(this.turns);
    for (const { index } of this.databases.values()) {
      while (!signal.aborted && index.keys.prepareSome()) await pacer.pause();
    }
  }

  /** Makes the reserve if it is missing and the disk has room. */
  makeReserve(): Promise<void> {
    const pacer = new Pacer(this.turns);
    return this.reserve.make(() => pacer.pause());
  }

  /**
   * Ends the use of the reserve, if it was used: rows of what was dropped are in the log still,
   * which a flush removes. Whoever asked for the drop has got it, so that failures are logged.
   */
  async leaveReserve(): Promise<void> {
    if (!this.reserve.isMissing) return;
    try {
      await this.flush();
    } catch (error) {
      this.log('error', 'flush failed', { error });
    }
    await this.makeReserve();
  }

  async #backgroundStep(): Promise<void> {
    await this.makeReserve();
    const now = this.environment.clock.monotonicMs();
    let oldestMs = 0;
    let quietMs = Number.POSITIVE_INFINITY;
    for (const shard of this.shards.all()) {
      if (shard.active.size === 0) continue;
      quietMs = Math.min(quietMs, now - shard.lastWriteMs);
      oldestMs = Math.max(oldestMs, now - shard.activeSinceMs);
    }
    const { quietFlushAfterMs = QUIET_MS } = this.#options;
    const isQuiet = quietFlushAfterMs > 0 && quietMs > quietFlushAfterMs;
    const hasBurst = isQuiet && this.memtableBytes > BURST_BYTES;
    if (hasBurst || oldestMs > MAX_MEMTABLE_AGE_MS) await this.flush();
    if (this.#options.walFsync === 'interval') await this.wal.syncNow();
    await this.#maintenance?.compact({ all: false });
    await this.#maintenance?.renewIndexes(this.stopping.background);
  }

  /** Indexes whose files are in use. */
  *storedIndexes(): Generator<StoredIndex> {
    for (const database of [...this.databases.values(), ...this.#restoring]) {
      yield database.stored;
      if (database.pending !== undefined) yield database.pending.stored;
    }
  }

  /**
   * Removes index files that belong to nothing: of dropped databases, of restores and renewals that
   * did not end.
   */
  removeOrphanIndexes(): void {
    this.indexFiles.removeOthers(this.storedIndexes());
  }

  writeLines(request: WriteLinesRequest): Promise<WriteOutcome> {
    return this.#writes.lines(request);
  }

  writePoints(request: WritePointsRequest): Promise<WriteOutcome> {
    return this.#writes.points(request);
  }

  delete(request: DeleteRequest): Promise<void> {
    return deleteRows(this, request);
  }

  dropMeasurement(databaseName: string, name: string): Promise<void> {
    return dropMeasurement(this, databaseName, name);
  }

  dropPolicy(policyId: number): Promise<void> {
    return dropShards(this, this.shards.ofPolicy(policyId));
  }

  async retainPolicies(policies: readonly PolicyRef[]): Promise<void> {
    const keep = new Set(policies.map((policy) => policy.id));
    for (const id of this.shards.policyIds()) {
      if (!keep.has(id)) await dropShards(this, this.shards.ofPolicy(id));
    }
  }

  async dropShard(shardId: number): Promise<boolean> {
    const shard = this.shards.get(shardId);
    if (shard === undefined) return false;
    await dropShards(this, [shard]);
    return true;
  }

  async shardInfos(): Promise<readonly ShardInfo[]> {
    const infos: ShardInfo[] = [];
    for (const { descriptor, diskBytes } of this.shards.all()) {
      infos.push({ ...descriptor, shardGroupId: descriptor.id, diskBytes });
    }
    return infos.sort((a, b) => a.id - b.id);
  }

  async statistics(): Promise<StorageStatistics> {
    const databases: DatabaseStatistics[] = [];
    for (const { name, index } of this.databases.values()) {
      const measurementCount = index.measurements.filter((m) => m.liveSeries > 0).length;
      databases.push({ database: name, seriesCount: index.liveSeries, measurementCount });
    }
    const wal = this.#wal;
    const counters: Record<string, number> = {
      ...this.#writes.counters,
      ...this.#maintenance?.counters,
      shards: this.shards.count,
      segments: this.#segments().length,
      damagedFiles: (await this.damage()).length,
      segmentBytes: this.#segments().reduce((sum, segment) => sum + segment.info.sizeBytes, 0),
      memtableBytes: this.memtableBytes,
      requestMemoryBytes: this.requestMemory.heldBytes,
      indexBytes: [...this.databases.values()].reduce(
        (sum, { index, pending }) =>
          sum + index.memoryBytes + (pending?.stored.index.memoryBytes ?? 0),
        0,
      ),
      postingsBytes: this.#postings.memoryBytes,
      openSnapshots: this.reclaimer.openCount,
      filesWaitingForSnapshots: this.reclaimer.waitingCount,
      walBytes: wal?.fileBytes ?? 0,
      walRecords: wal?.counters.records ?? 0,
      walSyncs: wal?.counters.syncs ?? 0,
      walFailures: wal?.counters.failures ?? 0,
    };
    return { counters, databases };
  }

  snapshot(): Snapshot {
    this.openWal();
    return takeSnapshot(this);
  }

  async flush(): Promise<void> {
    this.openWal();
    await this.#maintenance?.flush();
  }

  /** Merges segments until nothing needs to be done, whether their shards are at rest or not. */
  async compact(): Promise<void> {
    this.openWal();
    await this.#maintenance?.compact({ all: true });
    await this.#maintenance?.renewIndexes(this.stopping.background);
  }

  backup(request: BackupRequest): AsyncGenerator<Uint8Array> {
    const maintenance = this.#openMaintenance();
    return createBackup(this, request, () => maintenance.manifest());
  }

  async restore(request: RestoreRequest, bytes: AsyncIterable<Uint8Array>): Promise<RestoreReport> {
    const maintenance = this.#openMaintenance();
    return adoptBackup(this, maintenance, { request, bytes });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.stopping.begin(this.environment.clock);
    try {
      await this.#backgroundDone;
      if (this.#maintenance !== undefined && this.#options.hasBackgroundWork !== false) {
        await flushAtEnd(this.#maintenance, this.memtableBytes, this.log);
      }
      await this.#maintenance?.idle();
      await this.#checkpointAll();
      await this.#wal?.close();
      this.reclaimer.drain();
      for (const segment of this.#segments()) segment.close();
    } finally {
      this.stopping.end();
    }
  }

  async #checkpointAll(): Promise<void> {
    if (this.#maintenance === undefined) return;
    for (const { stored } of this.databases.values()) {
      await this.indexFiles.checkpoint(stored, { isClosing: true, signal: this.stopping.flushes });
    }
  }

  #segments(): Segment[] {
    return [...this.shards.all()].flatMap((shard) => shard.segments);
  }

  #openMaintenance(): Maintenance {
    this.openWal();
    assert(this.#maintenance !== undefined, 'the engine is open');
    return this.#maintenance;
  }

  /** The log; throws `Unavailable` when the engine is closed. */
  openWal(): Wal {
    if (this.#isClosed) throw new Unavailable('storage is closed');
    assert(this.#wal !== undefined, 'the engine is open');
    return this.#wal;
  }
}

/** Between two looks at what background work there is. */
const BACKGROUND_STEP_MS = 1000;
/**
 * A burst of writes larger than this is flushed when it has been over for so long;
 * `data.quiet-flush-after`.
 */
const BURST_BYTES = 1 << 20;
const QUIET_MS = 2000;
/** Rows of slow writers do not stay in the log longer than this. */
const MAX_MEMTABLE_AGE_MS = 10 * 60_000;
