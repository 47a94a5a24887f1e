// The engine, single-threaded: one owner of log, memtable, shards and index. Runs in the storage thread or inline.
import { assert, Conflict, MAX_INT64, MIN_INT64, Unavailable } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { BLOCK_VALUES_MAX } from '@tidemark/kernels';

import { LIMITS } from '../limits.ts';
import type { StorageEnvironment, StorageLog, StorageOptions } from '../options.ts';
import { stretchStarts } from '../memtable/stretches.ts';
import { selectMeasurements, selectOrdinals } from '../series/select.ts';
import type { Segment } from '../segment/segment.ts';
import type { ManifestDatabase } from '../manifest/manifest.ts';
import { PostingsCache } from '../series/postings-cache.ts';
import { ShardStore } from '../shard/shard-store.ts';
import type { Shard } from '../shard/shard.ts';
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
import { encodeFramed } from '../wal/wal-record.ts';
import type { DeletedRows, DeleteRecord, DropRecord } from '../wal/wal-record.ts';
import { OutcomeCollector } from '../write/ingest.ts';
import type { Ingest, IngestTarget } from '../write/ingest.ts';
import { SeriesAdmission } from '../write/series-admission.ts';
import type { WriteBatch } from '../write/write-batch.ts';
import { adoptBackup } from '../backup/adopt.ts';
import { createBackup } from '../backup/create.ts';
import { applyRows, deleteFromMemtable, dropEmptySeries } from './apply.ts';
import { BackPressure } from './back-pressure.ts';
import { Database } from './database.ts';
import { IndexFiles } from './index-files.ts';
import type { Maintenance } from './maintenance.ts';
import { Pacer } from './pacer.ts';
import { walDirectory } from './paths.ts';
import { Reclaimer } from './reclaimer.ts';
import { recover } from './recovery.ts';
import { takeSnapshot } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';
import type { StoredIndex } from './stored-index.ts';
import { flushAtEnd, Stopping } from './stopping.ts';
import { Turns } from './turns.ts';

export class Engine {
  readonly shards = new ShardStore();
  readonly databases = new Map<string, Database>();
  readonly reclaimer = new Reclaimer();
  readonly turns: Turns;
  readonly backPressure: BackPressure;
  readonly indexFiles: IndexFiles;
  readonly stopping = new Stopping();
  readonly environment: StorageEnvironment;
  readonly directory: string;
  /** Names this directory for ever; a copy of the directory has the same. */
  storageId = '';
  /** Bytes of the active memtables. */
  memtableBytes = 0;
  readonly #options: StorageOptions;
  readonly #memtableMaxBytes: number;
  readonly log: StorageLog;
  readonly #postings: PostingsCache;
  readonly #restoring = new Set<Database>();
  #backgroundDone: Promise<void> = Promise.resolve();
  #maintenance: Maintenance | undefined;
  #nextFileId = 1;
  #nextSequence = 1;
  #wal: Wal | undefined;
  #nextInstance = 1;
  #queuedBytes = 0;
  #isClosed = false;
  readonly #counters = {
    writeRequests: 0,
    pointsWritten: 0,
    valuesWritten: 0,
    pointsDropped: 0,
    parseErrors: 0,
    writeErrors: 0,
  };

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
    this.#memtableMaxBytes = options.memtableMaxBytes ?? LIMITS.memtableBytes.value;
    this.backPressure = new BackPressure(this.#memtableMaxBytes, () => this.memtableBytes);
  }

  /** Reads what is on disk; nothing else may be called before. */
  async open(): Promise<void> {
    const recovered = await recover(this, this.log);
    this.#maintenance = recovered.maintenance;
    this.#wal = new Wal({
      disk: this.environment.disk,
      directory: walDirectory(this.directory),
      firstFileId: recovered.nextWalFileId,
      fsync: this.#options.walFsync ?? 'always',
      log: (message, error) => this.log('error', message, { error }),
    });
    if (this.#options.hasBackgroundWork !== false) this.#backgroundDone = this.#runBackground();
  }

  /** Deleted series that an index is renewed for. */
  get deadSeriesMin(): number {
    return this.#options.deadSeriesMin ?? LIMITS.deadSeries.value;
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

  /** The database that a write goes to. */
  database(name: string): Database {
    if (this.#restoring.size > 0 && this.#isRestoring(name)) {
      throw new Unavailable(`database is being restored. database=\`${name}\``);
    }
    let database = this.databases.get(name);
    if (database === undefined) {
      database = this.addDatabase({ name, instance: this.takeInstance() });
    }
    return database;
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
      postings: this.#postings,
    });
  }

  /**
   * A database that is being restored: it has a number and its name is taken, but it is not visible. Throws `Conflict`
   * when there is data under the name; an empty database gives way to what is adopted.
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

  writeLines(request: WriteLinesRequest): Promise<WriteOutcome> {
    const outcome = new OutcomeCollector({ isDetailed: request.isDetailed === true });
    return this.#write(request.policy, outcome, (ingest, target) =>
      ingest.lines(request, target, outcome),
    );
  }

  writePoints(request: WritePointsRequest): Promise<WriteOutcome> {
    const outcome = new OutcomeCollector({ isDetailed: false });
    return this.#write(request.policy, outcome, (ingest, target) =>
      ingest.points(request, target, outcome),
    );
  }

  async #write(
    policy: PolicyRef,
    collector: OutcomeCollector,
    parse: (ingest: Ingest, target: IngestTarget) => Iterable<WriteBatch>,
  ): Promise<WriteOutcome> {
    const wal = this.#openWal();
    const limit = this.#options.writeQueueMaxBytes ?? LIMITS.queuedWriteBytes.value;
    if (this.#queuedBytes > limit) {
      throw new Unavailable(
        `too many writes wait for the log. setting=\`${LIMITS.queuedWriteBytes.setting}\``,
      );
    }
    await this.#awaitMemory();
    await this.turns.enter('write');
    const database = this.database(policy.database);
    const admission = new SeriesAdmission(database, policy);
    const target = { shards: this.shards, policy, admission };
    this.#counters.writeRequests++;
    for (const batch of parse(database.ingest, target)) {
      if (admission.hasLimits) admitSeries(database, batch);
      admission.endBatch();
      if (batch.parts.length > 0) {
        await this.#logBatch(wal, database, batch);
        this.#flushIfLarge();
      }
      if (!batch.hasMore) break;
      await this.#awaitMemory();
      await this.turns.enter('write');
    }
    const { outcome } = collector;
    this.#counters.parseErrors += outcome.parseErrors.length;
    this.#counters.pointsDropped += outcome.dropped?.count ?? 0;
    this.#counters.pointsWritten += outcome.pointsWritten;
    this.#counters.valuesWritten += outcome.valuesWritten;
    return outcome;
  }

  async #logBatch(wal: Wal, database: Database, batch: WriteBatch): Promise<void> {
    const additions = database.takeAdditions();
    const parts = batch.parts.map(({ shard, tables, encoded }) => ({
      shard: shard.descriptor,
      tables,
      encoded,
    }));
    const framed = encodeFramed({ kind: 'rows', database: database.ref, additions, parts });
    this.#queuedBytes += framed.length;
    const endWrite = database.beginWrite();
    try {
      await wal.append(framed, () => {
        this.#apply(database, batch);
        endWrite();
      });
    } catch (error) {
      endWrite();
      this.#counters.writeErrors++;
      database.returnAdditions(additions);
      database.admitted.clear();
      for (const { shard, measurementId, field } of batch.definedFields) {
        shard.fields.remove(measurementId, field);
      }
      throw error;
    } finally {
      this.#queuedBytes -= framed.length;
    }
  }

  #apply(database: Database, batch: WriteBatch): void {
    for (const { shard, tables } of batch.parts) {
      // Dropped while the batch was on its way to the disk: the drop came later, so it wins.
      if (this.shards.get(shard.descriptor.id) !== shard) continue;
      shard.lastWriteMs = this.environment.clock.monotonicMs();
      for (const table of tables) {
        this.memtableBytes += applyRows(database.index, shard, table);
        if (database.admitted.size === 0) continue;
        const { series, rows } = table;
        for (const start of stretchStarts(series, rows)) database.admitted.delete(series[start]!);
      }
    }
  }

  /** Holds writes back that come faster than the flush gets on. */
  async #awaitMemory(): Promise<void> {
    await this.backPressure.enter();
    if (this.memtableBytes > this.#memtableMaxBytes * 4) {
      throw new Unavailable(
        `memtable is full and can not be flushed. setting=\`${LIMITS.memtableBytes.setting}\``,
      );
    }
  }

  /** Starts a flush when memtable or log are large enough; failures are logged and tried again later. */
  #flushIfLarge(): void {
    if (this.#options.hasBackgroundWork === false) return;
    const walLimit = this.#options.walMaxBytes ?? LIMITS.walBytes.value;
    const isLarge = this.memtableBytes > this.#memtableMaxBytes || this.wal.fileBytes > walLimit;
    if (isLarge && this.#maintenance?.isFlushing === false) {
      this.#supervise('flush', this.#maintenance.flushOnce());
    }
  }

  #supervise(what: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => this.log('error', `${what} failed`, { error }));
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
    while (!signal.aborted) {
      try {
        await clock.sleep(stepMs, signal);
        await this.#backgroundStep();
      } catch (error) {
        if (!signal.aborted) this.log('error', 'background work failed', { error });
      }
    }
  }

  /** Hash tables of indexes that were read from checkpoints, so that the first write does not wait for them. */
  async #prepareIndexes(signal: AbortSignal): Promise<void> {
    const pacer = new Pacer(this.turns);
    for (const { index } of this.databases.values()) {
      while (!signal.aborted && index.keys.prepareSome()) await pacer.pause();
    }
  }

  async #backgroundStep(): Promise<void> {
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

  async delete(request: DeleteRequest): Promise<void> {
    const database = this.databases.get(request.database);
    if (database === undefined) return;
    const rows: DeletedRows[] = [];
    const { index } = database;
    for (const measurement of selectMeasurements(index, request)) {
      const ordinals = selectOrdinals(index, measurement, request.where);
      if (ordinals.length === 0) continue;
      const isAll = ordinals.length === measurement.seriesCount && request.where === undefined;
      const series = isAll ? undefined : ordinals.map((ordinal) => measurement.seriesId(ordinal));
      if (series === undefined) rows.push({ measurementId: measurement.id, series });
      // Parts that fit a block each.
      for (let at = 0; at < (series?.length ?? 0); at += BLOCK_VALUES_MAX.value) {
        const part = series?.subarray(at, at + BLOCK_VALUES_MAX.value);
        rows.push({ measurementId: measurement.id, series: part });
      }
    }
    await this.#logDelete(database, rows, {
      retentionPolicy: request.retentionPolicy,
      timeRange: request.timeRange,
      freesTypes: false,
    });
  }

  async dropMeasurement(databaseName: string, name: string): Promise<void> {
    const database = this.databases.get(databaseName);
    const measurement = database?.index.measurement(name);
    if (database === undefined || measurement === undefined) return;
    const rows = [{ measurementId: measurement.id, series: undefined }];
    await this.#logDelete(database, rows, { freesTypes: true });
  }

  async #logDelete(
    database: Database,
    rows: readonly DeletedRows[],
    scope: {
      readonly retentionPolicy?: string | undefined;
      readonly timeRange?: TimeRange | undefined;
      readonly freesTypes: boolean;
    },
  ): Promise<void> {
    const wal = this.#openWal();
    const timeRange = scope.timeRange ?? ALL_INT64;
    const shardIds = this.shards
      .ofDatabase(database.name, scope.retentionPolicy)
      .filter(({ descriptor: d }) => d.start <= timeRange.end && d.end > timeRange.start)
      .map((shard) => shard.descriptor.id);
    if (rows.length === 0 || shardIds.length === 0) return;
    const record: DeleteRecord = {
      kind: 'delete',
      database: database.ref,
      shardIds,
      timeRange,
      rows,
      freesTypes: scope.freesTypes,
    };
    await wal.append(encodeFramed(record), () => this.applyDelete(record));
  }

  /** Applies a durable delete. Rows that are logged later are not touched. */
  applyDelete(record: DeleteRecord): void {
    const database = this.databases.get(record.database.name);
    if (database?.instance !== record.database.instance) return;
    for (const id of record.shardIds) {
      const shard = this.shards.get(id);
      if (shard === undefined) continue;
      shard.active = new Map(shard.active);
      deleteFromMemtable(shard.active, record);
      if (shard.frozen !== undefined) {
        // The flush goes on with the old tables; the tombstone covers what it writes.
        shard.frozen = new Map(shard.frozen);
        deleteFromMemtable(shard.frozen, record);
      }
      this.#addTombstones(shard, record);
      shard.series = dropEmptySeries(database.index, shard, record);
      if (!record.freesTypes) continue;
      for (const { measurementId } of record.rows) shard.fields.removeMeasurement(measurementId);
    }
    database.dropDead();
  }

  #addTombstones(shard: Shard, record: DeleteRecord): void {
    if (shard.segments.length === 0 && shard.frozen === undefined) return;
    const { timeRange, freesTypes } = record;
    const sequence = this.takeSequence();
    const added = record.rows.map(({ measurementId, series }) => ({
      sequence,
      measurementId,
      series: series?.slice().sort(),
      timeRange,
      freesTypes,
    }));
    shard.tombstones = [...shard.tombstones, ...added];
  }

  async dropPolicy(policyId: number): Promise<void> {
    await this.#dropShards(this.shards.ofPolicy(policyId));
  }

  async retainPolicies(policies: readonly PolicyRef[]): Promise<void> {
    const keep = new Set(policies.map((policy) => policy.id));
    for (const id of this.shards.policyIds()) {
      if (!keep.has(id)) await this.#dropShards(this.shards.ofPolicy(id));
    }
  }

  async dropShard(shardId: number): Promise<boolean> {
    const shard = this.shards.get(shardId);
    if (shard === undefined) return false;
    await this.#dropShards([shard]);
    return true;
  }

  async #dropShards(shards: readonly Shard[]): Promise<void> {
    if (shards.length === 0) return;
    const record: DropRecord = { kind: 'drop', shardIds: shards.map((s) => s.descriptor.id) };
    await this.#openWal().append(encodeFramed(record), () => this.applyDrop(record));
    await this.fault('drop:logged');
    await this.#maintenance?.commitDrops(shards);
    this.removeOrphanIndexes();
  }

  /** Indexes whose files are in use. */
  *storedIndexes(): Generator<StoredIndex> {
    for (const database of [...this.databases.values(), ...this.#restoring]) {
      yield database.stored;
      if (database.pending !== undefined) yield database.pending.stored;
    }
  }

  /** Removes index files that belong to nothing: of dropped databases, of restores and renewals that did not end. */
  removeOrphanIndexes(): void {
    this.indexFiles.removeOthers(this.storedIndexes());
  }

  /** Forgets shards, and databases whose last shard goes. */
  applyDrop(record: DropRecord): void {
    for (const id of record.shardIds) {
      const shard = this.shards.remove(id);
      if (shard === undefined) continue;
      const { database: name } = shard.descriptor;
      const database = this.databases.get(name);
      if (database === undefined) continue;
      for (const series of shard.series) database.index.removedFromShard(series);
      database.dropDead();
      if (this.shards.ofDatabase(name).length > 0) continue;
      this.databases.delete(name);
      database.index.close();
    }
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
      ...this.#counters,
      ...this.#maintenance?.counters,
      shards: this.shards.count,
      segments: this.#segments().length,
      segmentBytes: this.#segments().reduce((sum, segment) => sum + segment.info.sizeBytes, 0),
      memtableBytes: this.memtableBytes,
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
    this.#openWal();
    return takeSnapshot(this);
  }

  async flush(): Promise<void> {
    this.#openWal();
    await this.#maintenance?.flush();
  }

  /** Merges segments until nothing needs to be done, whether their shards are at rest or not. */
  async compact(): Promise<void> {
    this.#openWal();
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
    this.#openWal();
    assert(this.#maintenance !== undefined, 'the engine is open');
    return this.#maintenance;
  }

  #openWal(): Wal {
    if (this.#isClosed) throw new Unavailable('storage is closed');
    assert(this.#wal !== undefined, 'the engine is open');
    return this.#wal;
  }
}

/** Between two looks at what background work there is. */
const BACKGROUND_STEP_MS = 1000;
/** A burst of writes larger than this is flushed when it has been over for so long; `data.quiet-flush-after`. */
const BURST_BYTES = 1 << 20;
const QUIET_MS = 2000;
/** Rows of slow writers do not stay in the log longer than this. */
const MAX_MEMTABLE_AGE_MS = 10 * 60_000;

const ALL_INT64: TimeRange = { start: MIN_INT64, end: MAX_INT64 };

/** Series that are not visible yet count against the limit until their batch is applied. */
function admitSeries({ index, admitted }: Database, { parts }: WriteBatch): void {
  for (const { tables } of parts) {
    for (const { series, rows } of tables) {
      for (const start of stretchStarts(series, rows)) {
        if (!index.isLive(series[start]!)) admitted.add(series[start]!);
      }
    }
  }
}
