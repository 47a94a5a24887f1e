// Writes: parsed in turns with other work, logged, applied to the memtable when they are durable,
// and held back when they come faster than the memtable is flushed.
import { Unavailable } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import type { StorageOptions } from '../options.ts';
import type {
  PolicyRef,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '../storage-engine.ts';
import { encodeFramed } from '../wal/wal-record.ts';
import type { Wal } from '../wal/wal.ts';
import { OutcomeCollector } from './ingest.ts';
import type { Ingest, IngestTarget } from './ingest.ts';
import { SeriesAdmission } from './series-admission.ts';
import type { WriteBatch } from './write-batch.ts';
import { applyRows } from './apply.ts';
import type { Database } from '../state/database.ts';
import type { Engine } from '../engine/engine.ts';

export class Writes {
  readonly #engine: Engine;
  readonly #options: StorageOptions;
  readonly #memtableMaxBytes: number;
  /** Bytes of records that wait for the log. */
  #queuedBytes = 0;
  readonly counters = {
    writeRequests: 0,
    pointsWritten: 0,
    valuesWritten: 0,
    pointsDropped: 0,
    parseErrors: 0,
    writeErrors: 0,
  };

  constructor(engine: Engine, options: StorageOptions, memtableMaxBytes: number) {
    this.#engine = engine;
    this.#options = options;
    this.#memtableMaxBytes = memtableMaxBytes;
  }

  /** Writes line protocol; durable and visible when it resolves. */
  lines(request: WriteLinesRequest): Promise<WriteOutcome> {
    const outcome = new OutcomeCollector({ isDetailed: request.isDetailed === true });
    return this.#write(request.policy, outcome, (ingest, target) =>
      ingest.lines(request, target, outcome),
    );
  }

  /** Writes points that were made inside the process. */
  points(request: WritePointsRequest): Promise<WriteOutcome> {
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
    const wal = this.#engine.openWal();
    await this.#engine.reserve.admit();
    const limit = this.#options.writeQueueMaxBytes ?? LIMITS.queuedWriteBytes.value;
    if (this.#queuedBytes > limit) {
      throw new Unavailable(
        `too many writes wait for the log. setting=\`${LIMITS.queuedWriteBytes.setting}\``,
      );
    }
    await this.#awaitMemory();
    await this.#engine.turns.enter('write');
    const database = this.#engine.database(policy.database);
    const admission = new SeriesAdmission(database, policy);
    const target = { shards: this.#engine.shards, policy, admission };
    this.counters.writeRequests++;
    for (const batch of parse(database.ingest, target)) {
      admission.endBatch();
      if (batch.parts.length > 0) {
        await this.#logBatch(wal, database, batch);
        this.#flushIfLarge();
      }
      if (!batch.hasMore) break;
      await this.#awaitMemory();
      await this.#engine.turns.enter('write');
    }
    const { outcome } = collector;
    this.counters.parseErrors += outcome.parseErrors.length;
    this.counters.pointsDropped += outcome.dropped?.count ?? 0;
    this.counters.pointsWritten += outcome.pointsWritten;
    this.counters.valuesWritten += outcome.valuesWritten;
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
    database.pendingBatches.add(batch);
    try {
      await wal.append(framed, [database.name], () => {
        this.#apply(database, batch);
        endWrite();
      });
    } catch (error) {
      endWrite();
      this.counters.writeErrors++;
      database.returnAdditions(additions);
      for (const { shard, measurementId, field } of batch.definedFields) {
        shard.fields.remove(measurementId, field);
      }
      throw error;
    } finally {
      this.#queuedBytes -= framed.length;
      database.pendingBatches.delete(batch);
    }
  }

  #apply(database: Database, batch: WriteBatch): void {
    for (const { shard, tables } of batch.parts) {
      // Dropped while the batch was on its way to the disk: the drop came later, so it wins.
      if (this.#engine.shards.get(shard.descriptor.id) !== shard) continue;
      shard.lastWriteMs = this.#engine.environment.clock.monotonicMs();
      for (const table of tables) {
        this.#engine.memtableBytes += applyRows(database.index, shard, table);
      }
    }
  }

  /**
   * Holds writes back that come faster than the flush gets on; refuses them when there is none that
   * succeeds.
   */
  async #awaitMemory(): Promise<void> {
    await this.#engine.backPressure.enter();
    // After a start all of the log is in memory, however much that is.
    while (this.#engine.memtableBytes > this.#memtableMaxBytes * 4) {
      if (await this.#hasFlushed()) continue;
      throw new Unavailable(
        `memtable is full and can not be flushed. setting=\`${LIMITS.memtableBytes.setting}\``,
      );
    }
  }

  /** Whether a flush that begins now, or runs, succeeds. */
  async #hasFlushed(): Promise<boolean> {
    const { maintenance } = this.#engine;
    if (this.#options.hasBackgroundWork === false || maintenance === undefined) return false;
    try {
      await maintenance.flushOnce();
      return true;
    } catch (error) {
      this.#engine.log('error', 'flush failed', { error });
      return false;
    }
  }

  /**
   * Starts a flush when memtable or log are large enough; failures are logged and tried again
   * later.
   */
  #flushIfLarge(): void {
    const walLimit = this.#options.walMaxBytes ?? LIMITS.walBytes.value;
    const isLarge =
      this.#engine.memtableBytes > this.#memtableMaxBytes || this.#engine.wal.fileBytes > walLimit;
    // Never rejects.
    if (isLarge && this.#engine.maintenance?.isFlushing === false) void this.#hasFlushed();
  }
}
