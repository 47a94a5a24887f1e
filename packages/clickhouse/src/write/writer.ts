// Writes points. The rows of many requests become one insert per table and shard. One insert runs
// at a time for each policy; requests that arrive meanwhile go with the next one. A request is
// acknowledged when the quorum has its rows. All rows of an insert have the same version, which
// orders them among all writes.
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { tagsOfSeriesKey } from '@tidemark/query';
import { BodyBuffers } from '@tidemark/storage-api';
import type {
  IngestSettings,
  PolicyRef,
  StorageLog,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage-api';

import type { Cluster } from '../cluster/cluster.ts';
import { isEmpty } from '../shared/entries.ts';
import type { MeasurementInGroup, SharedEntry } from '../shared/entries.ts';
import type { SharedState } from '../shared/shared-state.ts';
import { pointsTable, policyTables, SERIES_COLUMNS, seriesTable } from '../sql/tables.ts';
import { encodePoints } from './encode-points.ts';
import { ClusterIngest } from './cluster-ingest.ts';
import type { ClusterPart, ParseOptions } from './cluster-ingest.ts';
import { LocalSet } from './local-series.ts';
import { InsertPace } from './pace.ts';
import { PendingRows } from './pending.ts';
import type { ShardFailures } from './pending.ts';
import { SeriesLimits } from './series-limits.ts';
import { refusedAt, writeDeadline } from './write-deadline.ts';

export type WriterParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly clock: Clock;
  readonly log: StorageLog;
  readonly settings: IngestSettings;
  /** Bytes of waiting rows of all policies together. */
  readonly queueMaxBytes: number;
  /** The service answers a write with 500 after this time; 0 is never. */
  readonly timeoutMs: number;
};

/** The queue of one retention policy. */
type Queue = {
  rows: PendingRows;
  /** Resolves when the running insert has ended. */
  running: Promise<void> | undefined;
  readonly pace: InsertPace;
};

/** A request whose points are being queued. */
type QueuedRequest = {
  readonly ingest: ClusterIngest;
  readonly rows: PendingRows;
  /** Cluster shards that received rows of the request; filled while it is parsed. */
  readonly shards: Set<number>;
};

export class Writer {
  readonly #parts: WriterParts;
  readonly #limits: SeriesLimits;
  /** Buffers for received bodies and for inserts. */
  readonly #bodies = new BodyBuffers();
  readonly #ingests = new Map<string, ClusterIngest>();
  readonly #queues = new Map<number, Queue>();
  /** Announced series, by shard group. */
  readonly #announced = new Map<number, LocalSet>();
  /** Incremented whenever announcements were cleared. */
  #epoch = 0;
  /** Policies whose tables exist. */
  readonly #ready = new Set<number>();

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#limits = new SeriesLimits({ ...parts, registry: parts.state.registry });
    parts.state.onEntry((entry) => this.#follow(entry));
  }

  /** A buffer for a body that is then passed to `lines`. Its contents are undefined. */
  bodyBuffer(sizeBytes: number): Uint8Array {
    return this.#bodies.take(sizeBytes);
  }

  lines(request: WriteLinesRequest): Promise<WriteOutcome> {
    const { body } = request;
    const outcome = this.#write(request.policy, (ingest, options) =>
      ingest.lines(request, options),
    );
    // The body may have to be parsed again until then.
    const { buffer } = body;
    const isLent = this.#bodies.isLent(body) && buffer instanceof ArrayBuffer;
    return isLent ? outcome.finally(() => this.#bodies.giveBack(buffer)) : outcome;
  }

  points(request: WritePointsRequest): Promise<WriteOutcome> {
    return this.#write(request.policy, (ingest, options) => ingest.points(request, options));
  }

  /** Series that were dropped or deleted must be announced again when they are written again. */
  #follow(entry: SharedEntry | undefined): void {
    switch (entry?.kind) {
      case undefined:
        this.#announced.clear();
        break;
      case 'drop-groups':
        for (const id of entry.ids) this.#announced.delete(id);
        break;
      case 'delete':
      case 'drop-measurement':
        for (const id of entry.deleted.groups) this.#announced.delete(id);
        break;
      case 'series-gone':
        for (const id of entry.groups) this.#announced.delete(id);
        break;
      default:
        return;
    }
    this.#epoch++;
    for (const ingest of this.#ingests.values()) ingest.forgetTypes();
  }

  /** Called when the tables of a policy were dropped; the next write creates them again. */
  forgetTables(policyId: number): void {
    this.#ready.delete(policyId);
  }

  /** Runs work while no insert of a policy runs. */
  async exclusively<T>(policyId: number, work: () => Promise<T>): Promise<T> {
    const queue = this.#queueOf(policyId);
    while (queue.running !== undefined) await queue.running;
    const change = work();
    queue.running = change.then(
      () => undefined,
      () => undefined, // The caller gets the error.
    );
    try {
      return await change;
    } finally {
      queue.running = undefined;
      this.#start(policyId, queue);
    }
  }

  /** Resolves when all queued requests are acknowledged or refused. */
  async drain(): Promise<void> {
    while ([...this.#queues.values()].some(({ running }) => running !== undefined))
      await Promise.all([...this.#queues.values()].map(({ running }) => running));
  }

  /** Creates the tables of a policy unless they exist. */
  async #makeTables(policyId: number, untilMs: number): Promise<void> {
    if (this.#ready.has(policyId)) return;
    const { cluster } = this.#parts;
    const { database } = cluster.settings;
    for (let i = 0; i < 2; i++) {
      await cluster.define(
        (onCluster) => policyTables(policyId, { database, onCluster })[i] ?? '',
        untilMs,
      );
    }
    this.#ready.add(policyId);
  }

  // Not `async`: the body is parsed and its rows are queued synchronously, so that rows are
  // inserted in the order of the requests.
  #write(
    policy: PolicyRef,
    ingestAll: (ingest: ClusterIngest, options: ParseOptions) => WriteOutcome,
    sinceMs = this.#parts.clock.monotonicMs(),
  ): Promise<WriteOutcome> {
    const unknown = this.#limits.ready(policy);
    if (unknown !== undefined)
      return this.#inTime(unknown, sinceMs).then(() => this.#write(policy, ingestAll, sinceMs));
    if (this.#waitingBytes() > this.#parts.queueMaxBytes)
      return Promise.reject(
        new Unavailable(
          'too many writes wait for the cluster. setting=`data.write-queue-max-size`',
        ),
      );
    const queue = this.#queueOf(policy.id);
    const { rows } = queue;
    const ingest = this.#ingestOf(policy.database);
    return new Promise((resolve, reject) => {
      try {
        const admission = this.#limits.admission(policy);
        const shards = new Set<number>();
        const outcome = ingestAll(ingest, {
          admission,
          take: (part) => this.#enqueue(part, { ingest, rows, shards }),
        });
        admission?.end();
        const retry = (): Promise<WriteOutcome> => this.#write(policy, ingestAll, sinceMs);
        rows.waiters.push({ outcome, shards, resolve, reject, retry });
        rows.sinceMs = Math.min(rows.sinceMs ?? sinceMs, sinceMs);
      } catch (error) {
        reject(error);
      }
      queue.pace.arrive();
      this.#start(policy.id, queue);
    });
  }

  /** Awaits the preparation of a write before it is parsed, within the deadline of the write. */
  #inTime(work: Promise<void>, sinceMs: number): Promise<void> {
    const { clock, timeoutMs } = this.#parts;
    if (timeoutMs === 0) return work;
    const { refusedMs } = writeDeadline({ sinceMs, nowMs: clock.monotonicMs(), timeoutMs });
    return refusedAt(refusedMs, clock, work);
  }

  #waitingBytes(): number {
    let sum = 0;
    for (const { rows } of this.#queues.values())
      if (rows.waiters.length > 0) sum += rows.sizeBytes;
    return sum;
  }

  #queueOf(policyId: number): Queue {
    let queue = this.#queues.get(policyId);
    if (queue === undefined) {
      const rows = this.#newRows();
      queue = { rows, running: undefined, pace: new InsertPace(this.#parts.clock) };
      this.#queues.set(policyId, queue);
    }
    return queue;
  }

  #newRows(): PendingRows {
    return new PendingRows(this.#parts.cluster.shardCount, this.#epoch);
  }

  #ingestOf(database: string): ClusterIngest {
    let ingest = this.#ingests.get(database);
    if (ingest === undefined) {
      ingest = new ClusterIngest(database, this.#parts.state.registry, this.#parts.settings);
      this.#ingests.set(database, ingest);
    }
    return ingest;
  }

  #enqueue({ batch, newGroups }: ClusterPart, request: QueuedRequest): void {
    const { ingest, rows, shards } = request;
    const fields = batch.newFields.map(({ shardId, ...field }) => ({ group: shardId, ...field }));
    rows.add({ groups: newGroups, fields, tags: [] });
    const { series } = ingest;
    const shardOfSeries = (id: bigint): number => this.#parts.cluster.shardOfSeries(id);
    for (const table of batch.tables) {
      let announced = this.#announced.get(table.shardId);
      if (announced === undefined) this.#announced.set(table.shardId, (announced = new LocalSet()));
      const { measurement, shardId: group } = table;
      const onSeries = (local: number): void => {
        if (announced.add(local)) {
          ingest.assignShard(local, shardOfSeries);
          const id = series.id(local);
          const tags = tagsOfSeriesKey(ingest.keyOf(local));
          this.#announceTags({ group, measurement }, tags.keys(), rows);
          rows.addSeries(shardOfSeries(id), { measurement, id, group }, tags);
        }
        shards.add(series.shardOf[local]!);
      };
      encodePoints(table, { series, shards: rows.points, onSeries });
    }
  }

  /**
   * Announces tag keys, which all front ends must know, because look-ups of names do not ask the
   * cluster.
   */
  #announceTags(owner: MeasurementInGroup, keys: Iterable<string>, rows: PendingRows): void {
    const { registry } = this.#parts.state;
    for (const tag of ['', ...keys]) {
      if (!registry.isNewTag(owner.group, owner.measurement, tag)) continue;
      const additions = { groups: [], fields: [], tags: [{ ...owner, tag }] };
      registry.propose(additions);
      rows.add(additions);
    }
  }

  #start(policyId: number, queue: Queue): void {
    if (queue.rows.waiters.length > 0) queue.running ??= this.#run(policyId, queue);
  }

  async #run(policyId: number, queue: Queue): Promise<void> {
    while (queue.rows.waiters.length > 0) {
      const wait = queue.pace.begin(() => queue.rows);
      if (wait !== undefined) await wait;
      const { rows } = queue;
      queue.rows = this.#newRows();
      try {
        const failures = await this.#insert(policyId, rows);
        if (failures === 'changed') this.#retry(queue, rows);
        else {
          if (failures.size > 0) this.#refuse(queue, rows, failures);
          rows.resolve();
        }
      } catch (error) {
        const waiting = queue.rows;
        queue.rows = this.#newRows();
        for (const refused of [rows, waiting]) {
          queue.rows.takeAnnouncements(refused);
          refused.reject(error);
        }
      }
      queue.pace.end(rows.waiters.length, queue.rows.waiters.length);
    }
    // There is no await since the last check, so no request is missed.
    queue.running = undefined;
  }

  /**
   * Refuses the requests that have rows of a failed shard, including those that have arrived
   * meanwhile, because they would have to wait as long again. Rows of refused requests must not be
   * inserted into other shards later: with the version of the later insert they would replace what
   * their clients have written since. So the remaining requests are parsed again.
   */
  #refuse(queue: Queue, sent: PendingRows, failures: ShardFailures): void {
    const waiting = queue.rows;
    queue.rows = this.#newRows();
    queue.rows.takeAnnouncements(sent, failures);
    queue.rows.takeAnnouncements(waiting);
    for (const refused of [sent, waiting]) refused.rejectOn(failures);
    waiting.retry();
  }

  /**
   * Parses requests again, because other front ends have agreed on other groups or types, or have
   * deleted something.
   */
  #retry(queue: Queue, refused: PendingRows): void {
    const { state } = this.#parts;
    const waiting = queue.rows;
    // The announcements of these rows are lost.
    this.#announced.clear();
    this.#epoch++;
    queue.rows = this.#newRows();
    for (const { additions } of [refused, waiting]) state.registry.withdraw(additions);
    for (const ingest of this.#ingests.values()) ingest.forgetTypes();
    refused.retry();
    waiting.retry();
  }

  /**
   * Returns the shards that do not have their rows, or `changed` if others have agreed on something
   * else. Rejects at the deadline; a little before it the last row is sent, and rows that were sent
   * lose to everything that is accepted later.
   */
  #insert(policyId: number, rows: PendingRows): Promise<ShardFailures | 'changed'> {
    const { clock, timeoutMs } = this.#parts;
    const nowMs = clock.monotonicMs();
    const { sinceMs = nowMs } = rows;
    const { untilMs, refusedMs } = writeDeadline({ sinceMs, nowMs, timeoutMs });
    return refusedAt(refusedMs, clock, this.#tryInsert(policyId, rows, untilMs));
  }

  async #tryInsert(
    policyId: number,
    rows: PendingRows,
    untilMs: number,
  ): Promise<ShardFailures | 'changed'> {
    const { state } = this.#parts;
    await this.#makeTables(policyId, untilMs);
    const { additions } = rows;
    if (!isEmpty(additions) && !(await state.add(additions, untilMs))) return 'changed';
    const version = await state.nextVersion(untilMs);
    // All entries before the version are applied now. If one was a delete or drop, the rows are
    // parsed again.
    if (rows.epoch !== this.#epoch) return 'changed';
    return this.#insertSharded(policyId, rows, { version, untilMs });
  }

  /**
   * Inserts into all shards in parallel, series before points, because points are visible as soon
   * as they are stored and are found by their series.
   */
  async #insertSharded(
    policyId: number,
    { series, points }: PendingRows,
    { version, untilMs }: { readonly version: bigint; readonly untilMs: number },
  ): Promise<ShardFailures> {
    const { cluster } = this.#parts;
    const failures = new Map<number, unknown>();
    const seriesInto = `${cluster.table(seriesTable(policyId))} ${SERIES_COLUMNS} FORMAT RowBinary`;
    const pointsInto = cluster.table(pointsTable(policyId));
    await Promise.all(
      points.map(async (part, shard) => {
        try {
          const own = series[shard]!;
          if (own.sizeBytes > 0)
            await cluster.insert(shard, { into: seriesInto, rows: own.finish(version), untilMs });
          if (part.sizeBytes === 0) return;
          const into = `${pointsInto} ${part.columns} FORMAT Native`;
          const bytes = part.finish(this.#bodies, version);
          await cluster.insert(shard, { into, rows: bytes, untilMs });
          // A failed insert may still be sending the bytes, so its buffer is not reused.
          if (this.#bodies.isLent(bytes)) this.#bodies.giveBack(bytes.buffer as ArrayBuffer);
        } catch (error) {
          failures.set(shard, error);
        }
      }),
    );
    return failures;
  }
}
