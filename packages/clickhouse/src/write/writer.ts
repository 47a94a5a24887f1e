// Writes: rows of many requests become one insert per table and shard. One insert of a table runs
// at a time, what comes meanwhile goes with the next one; a request is answered when the quorum has
// its rows.
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { tagsOfSeriesKey } from '@tidemark/query';
import { BodyBuffers } from '@tidemark/storage';
import type {
  PolicyRef,
  StorageLog,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage';

import type { Cluster } from '../cluster/cluster.ts';
import { LIMITS } from '../limits.ts';
import { isNothing } from '../shared/entries.ts';
import type { MeasurementPlace, SharedEntry } from '../shared/entries.ts';
import type { SharedState } from '../shared/shared-state.ts';
import { pointsTable, policyTables, SERIES_COLUMNS, seriesTable } from '../sql/tables.ts';
import { encodePoints } from './encode-points.ts';
import { Ingest } from './ingest.ts';
import type { IngestedPart, IngestSettings } from './ingest.ts';
import { LocalSet } from './local-series.ts';
import { InsertPace } from './pace.ts';
import { PendingRows } from './pending.ts';
import type { ShardFailures } from './pending.ts';
import { SeriesLimits } from './series-limits.ts';
import type { Admission } from './series-limits.ts';

export type WriterParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly clock: Clock;
  readonly log: StorageLog;
  readonly settings: IngestSettings;
  /** Of rows that may wait, of all policies. */
  readonly queueMaxBytes: number;
};

/** The queue of one retention policy. */
type Queue = {
  rows: PendingRows;
  /** Ends with the insert that runs. */
  running: Promise<void> | undefined;
  readonly pace: InsertPace;
};

/** A request whose points are taken. */
type Taken = {
  readonly ingest: Ingest;
  readonly rows: PendingRows;
  /** That have rows of it; filled. */
  readonly shards: Set<number>;
};

export class Writer {
  readonly #parts: WriterParts;
  readonly #limits: SeriesLimits;
  /** For what is received and what is sent. */
  readonly #bodies = new BodyBuffers();
  readonly #ingests = new Map<string, Ingest>();
  readonly #queues = new Map<number, Queue>();
  /** Series that were announced, by shard group and the ingest's number. */
  readonly #announced = new Map<number, LocalSet>();
  /** Policies that have their tables. */
  readonly #ready = new Set<number>();

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#limits = new SeriesLimits({ ...parts, registry: parts.state.registry });
    parts.state.onEntry((entry) => this.#follow(entry));
  }

  /** Memory for a body that is then given to `lines`. Its contents are unspecified. */
  bodyBuffer(sizeBytes: number): Uint8Array {
    return this.#bodies.take(sizeBytes);
  }

  lines(request: WriteLinesRequest): Promise<WriteOutcome> {
    const { body } = request;
    const outcome = this.#write(request.policy, (ingest, admission, take) =>
      ingest.lines(request, admission, take),
    );
    // Until then the body may have to be parsed again.
    const { buffer } = body;
    const isLent = this.#bodies.isLent(body) && buffer instanceof ArrayBuffer;
    return isLent ? outcome.finally(() => this.#bodies.giveBack(buffer)) : outcome;
  }

  points(request: WritePointsRequest): Promise<WriteOutcome> {
    return this.#write(request.policy, (ingest, admission, take) =>
      ingest.points(request, admission, take),
    );
  }

  /** What others drop and delete has to be announced again by who writes it again. */
  #follow(entry: SharedEntry | undefined): void {
    switch (entry?.kind) {
      case undefined:
        this.#announced.clear();
        break;
      case 'drop-groups':
        for (const id of entry.ids) this.#announced.delete(id);
        break;
      case 'drop-measurement':
      case 'series-gone':
        for (const id of entry.groups) this.#announced.delete(id);
        break;
      default:
        return;
    }
    for (const ingest of this.#ingests.values()) ingest.forgetTypes();
  }

  /** The tables of a policy have gone: who writes to it needs them again. */
  forgetTables(policyId: number): void {
    this.#ready.delete(policyId);
  }

  /** Does what must not meet writes of a policy: behind the insert that runs, before the next. */
  async alone<T>(policyId: number, work: (rows: PendingRows) => Promise<T>): Promise<T> {
    const queue = this.#queueOf(policyId);
    while (queue.running !== undefined) await queue.running;
    const change = (async () => {
      const rows = new PendingRows(this.#parts.cluster.shardCount);
      const result = await work(rows);
      const failures = await this.#insertSharded(policyId, rows, this.#deadline(rows));
      for (const failure of failures.values()) throw failure;
      return result;
    })();
    queue.running = change.then(
      () => undefined,
      () => undefined, // Whoever wants the change is told.
    );
    try {
      return await change;
    } finally {
      queue.running = undefined;
      this.#start(policyId, queue);
    }
  }

  /** Resolves when everything that was taken is stored or refused. */
  async drain(): Promise<void> {
    while ([...this.#queues.values()].some(({ running }) => running !== undefined))
      await Promise.all([...this.#queues.values()].map(({ running }) => running));
  }

  /** Makes the tables of a policy when they are not there. */
  async makeTables(policyId: number): Promise<void> {
    if (this.#ready.has(policyId)) return;
    const { cluster } = this.#parts;
    const { database } = cluster.settings;
    for (let i = 0; i < 2; i++) {
      await cluster.define((onCluster) => policyTables(policyId, { database, onCluster })[i] ?? '');
    }
    this.#ready.add(policyId);
  }

  // Not `async`: a body is parsed and its rows are queued in the turn in which it came, so that
  // rows are inserted in the order of the requests.
  #write(
    policy: PolicyRef,
    ingestAll: (
      ingest: Ingest,
      admission: Admission | undefined,
      take: (part: IngestedPart) => void,
    ) => WriteOutcome,
  ): Promise<WriteOutcome> {
    const unknown = this.#limits.ready(policy);
    if (unknown !== undefined) return unknown.then(() => this.#write(policy, ingestAll));
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
        const outcome = ingestAll(ingest, admission, (part) =>
          this.#take(part, { ingest, rows, shards }),
        );
        admission?.end();
        const again = (): Promise<WriteOutcome> => this.#write(policy, ingestAll);
        rows.waiters.push({ outcome, shards, resolve, reject, again });
        rows.sinceMs ??= this.#parts.clock.monotonicMs();
      } catch (error) {
        reject(error);
      }
      queue.pace.arrive();
      this.#start(policy.id, queue);
    });
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
      const rows = new PendingRows(this.#parts.cluster.shardCount);
      queue = { rows, running: undefined, pace: new InsertPace(this.#parts.clock) };
      this.#queues.set(policyId, queue);
    }
    return queue;
  }

  #ingestOf(database: string): Ingest {
    let ingest = this.#ingests.get(database);
    if (ingest === undefined) {
      ingest = new Ingest(this.#parts.state.registry, this.#parts.settings);
      this.#ingests.set(database, ingest);
    }
    return ingest;
  }

  #take({ batch, newGroups }: IngestedPart, request: Taken): void {
    const { ingest, rows, shards } = request;
    const fields = batch.newFields.map(({ shardId, ...place }) => ({ group: shardId, ...place }));
    rows.add({ groups: newGroups, fields, tags: [] });
    const { series } = ingest;
    const shardOfSeries = (id: bigint): number => this.#parts.cluster.shardOfSeries(id);
    for (const table of batch.tables) {
      let announced = this.#announced.get(table.shardId);
      if (announced === undefined) this.#announced.set(table.shardId, (announced = new LocalSet()));
      const { measurement, shardId: group } = table;
      const onSeries = (local: number): void => {
        if (announced.add(local)) {
          ingest.place(local, shardOfSeries);
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

  /** Names are looked up without asking the cluster: all front ends know every tag key. */
  #announceTags(place: MeasurementPlace, keys: Iterable<string>, rows: PendingRows): void {
    const { registry } = this.#parts.state;
    for (const tag of ['', ...keys]) {
      if (!registry.isNewTag(place.group, place.measurement, tag)) continue;
      const additions = { groups: [], fields: [], tags: [{ ...place, tag }] };
      registry.want(additions);
      rows.add(additions);
    }
  }

  #start(policyId: number, queue: Queue): void {
    if (queue.rows.waiters.length > 0) queue.running ??= this.#run(policyId, queue);
  }

  async #run(policyId: number, queue: Queue): Promise<void> {
    const { cluster } = this.#parts;
    while (queue.rows.waiters.length > 0) {
      const wait = queue.pace.begin(() => queue.rows);
      if (wait !== undefined) await wait;
      const { rows } = queue;
      queue.rows = new PendingRows(cluster.shardCount);
      try {
        const failures = await this.#insert(policyId, rows);
        if (failures === 'changed') this.#takeAgain(queue, rows);
        else {
          // What has waited meanwhile would wait as long again, and be given up by its clients.
          queue.rows.takeAnnouncements(rows, failures);
          for (const refused of [rows, queue.rows]) refused.rejectOn(failures);
          rows.resolve();
        }
      } catch (error) {
        const waiting = queue.rows;
        queue.rows = new PendingRows(cluster.shardCount);
        for (const refused of [rows, waiting]) {
          queue.rows.takeAnnouncements(refused);
          refused.reject(error);
        }
      }
      queue.pace.end(rows.waiters.length, queue.rows.waiters.length);
    }
    // In the turn of the last look: who was answered just now may write again before any other.
    queue.running = undefined;
  }

  /**
   * Other front ends have agreed on other groups or types: what was parsed meanwhile is parsed
   * again with these.
   */
  #takeAgain(queue: Queue, refused: PendingRows): void {
    const { cluster, state } = this.#parts;
    const waiting = queue.rows;
    queue.rows = new PendingRows(cluster.shardCount);
    for (const { additions } of [refused, waiting]) state.registry.unwant(additions);
    // What was announced with these rows is in none.
    this.#announced.clear();
    for (const ingest of this.#ingests.values()) ingest.forgetTypes();
    refused.takeAgain();
    waiting.takeAgain();
  }

  /** Until when a batch is inserted, in all its steps: its first request has waited already. */
  #deadline({ sinceMs }: PendingRows): number {
    const nowMs = this.#parts.clock.monotonicMs();
    return Math.max((sinceMs ?? nowMs) + LIMITS.insertMs.value, nowMs + LIMITS.lastTryMs.value);
  }

  /** Gives the shards without their rows, or `changed`: others have agreed on something else. */
  async #insert(policyId: number, rows: PendingRows): Promise<ShardFailures | 'changed'> {
    const untilMs = this.#deadline(rows);
    await this.makeTables(policyId);
    const { additions } = rows;
    if (!isNothing(additions) && !(await this.#parts.state.add(additions))) return 'changed';
    return this.#insertSharded(policyId, rows, untilMs);
  }

  /**
   * Into each shard what points need to be found goes first: they are visible as soon as they are
   * there. No shard waits for another one.
   */
  async #insertSharded(
    policyId: number,
    { series, points }: PendingRows,
    untilMs: number,
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
            await cluster.insert(shard, { into: seriesInto, rows: own.finish(), untilMs });
          if (part.sizeBytes === 0) return;
          const into = `${pointsInto} ${part.columns} FORMAT Native`;
          const bytes = part.finish(this.#bodies);
          await cluster.insert(shard, { into, rows: bytes, untilMs });
          // An insert that was given up may still be sending them.
          if (this.#bodies.isLent(bytes)) this.#bodies.giveBack(bytes.buffer as ArrayBuffer);
        } catch (error) {
          failures.set(shard, error);
        }
      }),
    );
    return failures;
  }
}
