// Writes: parsed in turns with other work, logged, and applied to the memtable when they are
// durable. They wait when the memtable fills faster than it is flushed.
import { isUtf8 } from 'node:buffer';

import { assert, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { RowBuffers } from '@tidemark/kernels';
import { INGEST_DEFAULTS, OutcomeCollector, validBody } from '@tidemark/storage-api';
import type {
  IngestTarget,
  PolicyRef,
  StorageLog,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage-api';

import type { DiskReserve } from '../disk/reserve.ts';
import { LIMITS } from '../limits.ts';
import type { StorageOptions } from '../options.ts';
import type { Turns } from '../schedule/turns.ts';
import type { Contents } from '../state/contents.ts';
import type { Database } from '../state/database.ts';
import { encodeFramed } from '../wal/wal-record.ts';
import type { Wal } from '../wal/wal.ts';
import { applyRows } from './apply.ts';
import type { BatchBuilder } from './batch-builder.ts';
import { DatabaseWrites } from './database-writes.ts';
import type { Drops } from './drops.ts';
import { canJoin, isJoinable, JointWrite } from './joint-write.ts';
import { SeriesAdmission } from './series-admission.ts';
import type { WriteBatch } from './write-batch.ts';

/** The flush, as writes need it. */
export type Flusher = {
  readonly isRunning: boolean;
  /** Begins a flush, or joins the running one. */
  begin(): Promise<void>;
};

export type WritesOptions = {
  readonly contents: Contents;
  readonly wal: Wal;
  readonly reserve: DiskReserve;
  readonly drops: Drops;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly log: StorageLog;
  /**
   * `undefined` when the engine has no background work: then the program that opened it flushes.
   */
  readonly flusher: Flusher | undefined;
  readonly settings: Pick<StorageOptions, 'ingest' | 'walMaxBytes' | 'writeQueueMaxBytes'>;
};

/** Room in the memtable that a write was let into. `leave` is idempotent. */
type Room = { leave(): void };

type WritePart = { readonly policy: PolicyRef; readonly partBytes: number };

type Parse = (batches: BatchBuilder, from: number, target: IngestTarget) => WriteBatch;

type Parsing = {
  readonly parse: Parse;
  /** Writes that it is. */
  readonly count: number;
  /** Asked before a batch is logged; what is not wanted leaves nothing behind. */
  readonly isWanted?: ((batch: WriteBatch) => boolean) | undefined;
};

/** Approximate size of a part of a body, as the kernel takes it at once. */
const PART_BYTES = 1 << 20;
/** A point of a few fields in the memtable, roughly. */
const POINT_BYTES = 100;

export class Writes {
  readonly #options: WritesOptions;
  readonly #databases = new WeakMap<Database, DatabaseWrites>();
  /** Memory for copies of rows, of all databases. */
  readonly #buffers = new RowBuffers();
  /** Bytes of records that wait to be logged. */
  #queuedBytes = 0;
  readonly counters = {
    writeRequests: 0,
    pointsWritten: 0,
    valuesWritten: 0,
    pointsDropped: 0,
    parseErrors: 0,
    writeErrors: 0,
  };

  constructor(options: WritesOptions) {
    this.#options = options;
  }

  /** Writes line protocol; durable and visible when it resolves. */
  lines(request: WriteLinesRequest): Promise<WriteOutcome> {
    const outcome = new OutcomeCollector({ isDetailed: request.isDetailed === true });
    const partBytes = Math.min(request.body.byteLength, PART_BYTES);
    const valid = { ...request, body: validBody(request.body) };
    return this.#whole({ policy: request.policy, partBytes }, outcome, (batches, from, target) =>
      batches.lines(valid, from, target),
    );
  }

  /**
   * As `lines`, for several small bodies that have come together: those of one policy are parsed
   * and logged as one, if all of their lines can be stored.
   */
  together(requests: readonly WriteLinesRequest[]): readonly Promise<WriteOutcome>[] {
    const outcomes: Promise<WriteOutcome>[] = [];
    for (const group of joinable(requests)) {
      if (group.length === 1) outcomes.push(this.lines(group[0]!));
      else {
        const joint = this.#joint(group);
        const each = group.map(async (request, i) => (await joint)?.[i] ?? this.lines(request));
        outcomes.push(...each);
      }
    }
    return outcomes;
  }

  /** `undefined` when they have to be made one by one. Then nothing is written. */
  async #joint(
    requests: readonly WriteLinesRequest[],
  ): Promise<readonly WriteOutcome[] | undefined> {
    const joint = new JointWrite(requests);
    const { request } = joint;
    if (!isUtf8(request.body)) return undefined;
    const collector = new OutcomeCollector({ isDetailed: false });
    const part = { policy: request.policy, partBytes: request.body.byteLength };
    const outcome = await this.#write(part, collector, {
      parse: (batches, from, target) => batches.lines(request, from, target),
      count: requests.length,
      isWanted: (batch) => joint.isWhole(batch, collector.outcome),
    });
    return outcome && joint.outcomes(outcome);
  }

  /** Writes points; durable and visible when it resolves. */
  points(request: WritePointsRequest): Promise<WriteOutcome> {
    const outcome = new OutcomeCollector({ isDetailed: false });
    const partBytes = Math.min(request.points.length * POINT_BYTES, PART_BYTES);
    return this.#whole({ policy: request.policy, partBytes }, outcome, (batches, from, target) =>
      batches.points(request, from, target),
    );
  }

  async #whole(part: WritePart, collector: OutcomeCollector, parse: Parse): Promise<WriteOutcome> {
    const outcome = await this.#write(part, collector, { parse, count: 1 });
    assert(outcome !== undefined, 'every batch of a single write is wanted');
    return outcome;
  }

  /** `undefined` when its first batch is not wanted. */
  async #write(
    part: WritePart,
    collector: OutcomeCollector,
    parsing: Parsing,
  ): Promise<WriteOutcome | undefined> {
    const { reserve, settings } = this.#options;
    await reserve.admit();
    const limit = settings.writeQueueMaxBytes ?? LIMITS.queuedWriteBytes.value;
    if (this.#queuedBytes > limit) {
      throw new Unavailable(
        `too many writes wait for the log. setting=\`${LIMITS.queuedWriteBytes.setting}\``,
      );
    }
    if (!(await this.#writeParts(part, collector, parsing))) return undefined;
    const { outcome } = collector;
    this.counters.parseErrors += outcome.parseErrors.length;
    this.counters.pointsDropped += outcome.dropped?.count ?? 0;
    this.counters.pointsWritten += outcome.pointsWritten;
    this.counters.valuesWritten += outcome.valuesWritten;
    return outcome;
  }

  /**
   * Writes one part after another. Each is admitted against the state when it is parsed: while the
   * one before was being logged, the policy or the database may have been dropped, and a database
   * of the same name may have been created.
   */
  async #writeParts(
    { policy, partBytes }: WritePart,
    outcome: OutcomeCollector,
    { parse, count, isWanted }: Parsing,
  ): Promise<boolean> {
    const { contents, drops, turns } = this.#options;
    const { shards } = contents;
    const used = new Set<number>();
    let admission: SeriesAdmission | undefined;
    for (let from: number | undefined = 0; from !== undefined;) {
      const room = await this.#awaitMemory(partBytes);
      try {
        await turns.enter('write');
        for (let drop = drops.of(policy.database); drop !== undefined;) {
          await drop;
          await turns.enter('write');
          drop = drops.of(policy.database);
        }
        shards.requirePolicy(policy);
        const writes = this.#writesOf(policy.database);
        if (admission?.isOf(writes) !== true) admission = new SeriesAdmission(writes, policy);
        const { admitSeries } = admission;
        const batch = parse(writes.batches, from, { policy, used, outcome, admitSeries });
        admission.endBatch();
        if (isWanted?.(batch) === false) {
          removeFields(contents, batch);
          return false;
        }
        if (from === 0) this.counters.writeRequests += count;
        if (batch.parts.length > 0) {
          await this.#logBatch(writes, batch);
          this.#flushIfLarge();
        }
        from = batch.next;
      } finally {
        room.leave();
      }
    }
    return true;
  }

  /** Throws `Corruption` when the database is stopped, and `Unavailable` while it is restored. */
  #writesOf(name: string): DatabaseWrites {
    const { contents, settings } = this.#options;
    contents.stopped.requireServed(name);
    const database = contents.databases.getOrAdd(name);
    let writes = this.#databases.get(database);
    if (writes === undefined) {
      const parts = {
        database,
        shards: contents.shards,
        settings: { ...INGEST_DEFAULTS, ...settings.ingest },
        buffers: this.#buffers,
      };
      writes = new DatabaseWrites(parts);
      this.#databases.set(database, writes);
    }
    return writes;
  }

  async #logBatch({ database, pendingBatches }: DatabaseWrites, batch: WriteBatch): Promise<void> {
    const additions = database.takeAdditions();
    const parts = batch.parts.map(({ shard, tables, encoded }) => ({
      shard: shard.descriptor,
      tables,
      encoded,
    }));
    const framed = encodeFramed({ kind: 'rows', database: database.ref, additions, parts });
    const queuedBytes = framed.length + memoryOf(batch);
    this.#queuedBytes += queuedBytes;
    const endWrite = database.beginWrite(batch.parts.flatMap((part) => part.tables));
    pendingBatches.add(batch);
    try {
      await this.#options.wal.append(framed, [database.name], () => {
        this.#apply(database, batch);
        endWrite();
      });
    } catch (error) {
      endWrite();
      this.counters.writeErrors++;
      database.returnAdditions(additions);
      removeFields(this.#options.contents, batch);
      throw error;
    } finally {
      this.#queuedBytes -= queuedBytes;
      pendingBatches.delete(batch);
    }
  }

  #apply({ index }: Database, batch: WriteBatch): void {
    const { contents, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    for (const { shard, tables } of batch.parts) {
      // The drop comes later in the log.
      assert(contents.shards.get(shard.descriptor.id) === shard, 'rows come before the drop');
      for (const table of tables) applyRows(contents, { shard, index, nowMs }, table);
    }
  }

  /**
   * Waits while the memtable is too full for a part of a write. Rejects when it cannot be flushed.
   */
  async #awaitMemory(sizeBytes: number): Promise<Room> {
    const { memtables } = this.#options.contents;
    await memtables.enter(sizeBytes);
    let isTaken = true;
    const room = {
      leave: () => {
        if (isTaken) memtables.leave(sizeBytes);
        isTaken = false;
      },
    };
    // Four times the limit: after a start, all rows of the log are in memory, however many they
    // are.
    while (memtables.bytes > memtables.limitBytes * 4) {
      if (await this.#hasFlushed()) continue;
      room.leave();
      throw new Unavailable(
        `memtable is full and cannot be flushed. setting=\`${LIMITS.memtableBytes.setting}\``,
      );
    }
    return room;
  }

  /** Joins or begins a flush, and returns whether it succeeded. */
  async #hasFlushed(): Promise<boolean> {
    const { flusher, log } = this.#options;
    if (flusher === undefined) return false;
    try {
      await flusher.begin();
      return true;
    } catch (error) {
      // It is closed when the engine is.
      if (!(error instanceof Unavailable)) log('error', 'flush failed', { error });
      return false;
    }
  }

  /**
   * Begins a flush when the memtable or the log is large enough. Failures are logged, and a later
   * write tries again.
   */
  #flushIfLarge(): void {
    const { contents, wal, flusher, settings } = this.#options;
    const { memtables } = contents;
    const walLimit = settings.walMaxBytes ?? LIMITS.walBytes.value;
    const isLarge = memtables.bytes > memtables.limitBytes || wal.fileBytes > walLimit;
    // This promise never rejects.
    if (isLarge && flusher?.isRunning === false) void this.#hasFlushed();
  }
}

/** Runs of writes that can be one. */
function joinable(requests: readonly WriteLinesRequest[]): readonly WriteLinesRequest[][] {
  const groups: WriteLinesRequest[][] = [];
  let isOpen = false;
  for (const request of requests) {
    const group = groups.at(-1);
    const joins = isJoinable(request);
    if (joins && isOpen && group !== undefined && canJoin(group[0]!, request)) group.push(request);
    else groups.push([request]);
    isOpen = joins;
  }
  return groups;
}

/** Of a batch that is not logged. Its series stay: the next record has them. */
function removeFields({ shards }: Contents, { definedFields }: WriteBatch): void {
  for (const field of definedFields) shards.removeField(field.shard, field);
}

/** Memory of the rows of a batch while they wait for the log. */
function memoryOf({ parts }: WriteBatch): number {
  let bytes = 0;
  for (const { tables } of parts) for (const table of tables) bytes += table.memoryBytes;
  return bytes;
}
