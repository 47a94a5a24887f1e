// The shards and replicas behind the configured URLs, and which of them each statement goes to.
// Every URL is one replica; the id of a series determines its shard.
import {
  assert,
  Cancelled,
  Conflict,
  InvalidRequest,
  messageOf,
  Unavailable,
} from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { ReplicaLoad, ReplicaState } from '@tidemark/storage-api';

import { LIMITS } from '../limits.ts';
import { sqlName, sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { Queued, Unreachable } from './failure.ts';
import type { ClickHouseNode, NodeSettings, ReadOptions } from './node.ts';
import { connectAndIdentify, identify } from './identify.ts';
import type { Identified } from './identify.ts';
import { refusal } from './probes.ts';
import { watchWriters } from './writers.ts';

export type ClusterSettings = {
  readonly urls: readonly string[];
  /** The ClickHouse database that holds all tables. */
  readonly database: string;
  /** The cluster's name in the servers' configuration. */
  readonly cluster: string;
  /** Whether a read may leave out shards that do not answer; the caller passes `onUnreachable`. */
  readonly givesPartialAnswers: boolean;
  /** The servers end a read after this time; 0 is never. */
  readonly readTimeoutMs: number;
  /** A server that has not answered a ping for this time counts as unreachable; 0 is never. */
  readonly pingTimeoutMs: number;
};

export type Insertion = {
  /** Table, columns and format, as they follow `INSERT INTO`. */
  readonly into: string;
  readonly rows: Uint8Array;
  /** Monotonic; `Cluster.patienceMs` when absent. */
  readonly untilMs?: number | undefined;
};

type WriteAttempt = {
  readonly target: Target;
  /** The write fails when fewer nodes than this can take writes. */
  readonly needed: number;
  /** Monotonic. */
  readonly untilMs: number;
};

/** A replica whose shard is not known yet, and the reason. */
type Unidentified = { readonly node: ClickHouseNode; readonly failure?: unknown };

/** Index of a shard, or all nodes: the same is on each of them. */
export type Target = number | 'all nodes';

type Found = {
  readonly shards: readonly Shard[];
  readonly unidentified: readonly Unidentified[];
  /** Replicas of each shard, according to the servers' configuration. */
  readonly replicaCount: number;
};

/** The replicas of a shard that have answered. */
type Shard = ClickHouseNode[];

export class Cluster {
  readonly settings: ClusterSettings;
  readonly #clock: Clock;
  readonly #shards: readonly Shard[];
  #unidentified: readonly Unidentified[];
  readonly #replicaCount: number;
  /** The node that the next statement tries first: round robin. */
  readonly #next = new Map<Target, number>();
  readonly #failedMs = new Map<ClickHouseNode, number>();
  /** Targets whose last insert failed. */
  readonly #refusing = new Set<Target>();
  #asking: Promise<void> | undefined;
  #nextAskMs = 0;

  private constructor(settings: ClusterSettings, clock: Clock, found: Found) {
    this.settings = settings;
    this.#clock = clock;
    this.#shards = found.shards;
    this.#unidentified = found.unidentified;
    this.#replicaCount = found.replicaCount;
  }

  /**
   * Asks the server at every URL which shard it belongs to. Servers that do not answer are asked
   * again later, so a whole shard may be unreachable. Throws when no server answers, or when a
   * shard has no URL.
   */
  static async open(settings: ClusterSettings, clock: Clock): Promise<Cluster> {
    const { urls, pingTimeoutMs, database } = settings;
    if (urls.length === 0)
      throw new InvalidRequest(
        'storage.engine is clickhouse, and storage.clickhouse-urls names no server',
      );
    const asked = await Promise.all(
      urls.map((url) =>
        connectAndIdentify(url, settings.cluster, { clock, pingTimeoutMs, database }),
      ),
    );
    const shape = asked.flatMap(({ identity }) => (identity === undefined ? [] : [identity]))[0];
    if (shape === undefined) {
      for (const { node } of asked) await node.close();
      throw asked[0]?.failure;
    }
    const { shardCount, replicaCount } = shape;
    const shards = Array.from({ length: shardCount }, (_, i): Shard =>
      asked.flatMap(({ node, identity }) => (identity?.shard === i + 1 ? [node] : [])),
    );
    const unidentified = asked.filter(({ identity }) => identity === undefined);
    const missing = shards.findIndex((replicas) => replicas.length === 0);
    if (missing >= 0 && unidentified.length === 0) {
      for (const { node } of asked) await node.close();
      throw new Conflict(
        `storage.clickhouse-urls names no replica of shard ${missing + 1} of ${shardCount}`,
      );
    }
    return new Cluster(settings, clock, { shards, unidentified, replicaCount });
  }

  /** A table's name, qualified with its database. */
  table(name: string): string {
    return `${sqlName(this.settings.database)}.${name}`;
  }

  get shardCount(): number {
    return this.#shards.length;
  }

  /** A row is acknowledged when this many replicas of its shard have it: a majority. */
  get quorum(): number {
    return Math.floor(this.#replicaCount / 2) + 1;
  }

  /** The replicas of all shards that have answered. */
  get nodes(): readonly ClickHouseNode[] {
    return this.#shards.flat();
  }

  /** Index of the shard that holds a series. */
  shardOfSeries(id: bigint): number {
    return Number(id % BigInt(this.#shards.length));
  }

  /** Reads from one replica of a shard, or from another one when the first is unreachable. */
  async rows(shard: number, sql: string, options: ReadOptions = {}): Promise<Buffer> {
    try {
      return await this.#onReplica(shard, (node) => node.rows(sql, this.#limited(options)));
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      const reason = `${nameOf(shard)} does not answer: ${messageOf(error)}`;
      if (options.onUnreachable === undefined)
        throw new Unavailable(`${reason}; coordinator.partial-answers = true answers without it`, {
          cause: error,
        });
      options.onUnreachable(reason);
      return NO_ROWS;
    }
  }

  #limited({ settings, ...options }: ReadOptions): ReadOptions {
    const { readTimeoutMs } = this.settings;
    if (readTimeoutMs === 0) return { ...options, settings };
    const seconds = Math.ceil(readTimeoutMs / 1000);
    return { ...options, settings: { ...settings, max_execution_time: seconds } };
  }

  /** Asks every replica whether it answers and can take a write. */
  async replicas(): Promise<readonly ReplicaState[]> {
    const known = this.#shards.flatMap((replicas, i) =>
      replicas.map((node) => ({ node, shard: i + 1 })),
    );
    const signal = AbortSignal.timeout(this.settings.pingTimeoutMs || LIMITS.probeMs.value);
    const answers = known.map(async ({ node, shard }): Promise<ReplicaState> => {
      const refused = refusal(node, signal);
      try {
        const load = await this.#loadOf(node, signal);
        const reason = await refused;
        const ofWrites = { takesWrites: reason === undefined, reason: reason && messageOf(reason) };
        return { shard, url: node.name, isUp: true, ...ofWrites, load };
      } catch (error) {
        const reason = messageOf(error);
        return { shard, url: node.name, isUp: false, takesWrites: false, reason };
      }
    });
    const shard = this.#shardOfUnidentified();
    const others = this.#unidentified.map(({ node, failure }): ReplicaState => ({
      shard,
      url: node.name,
      isUp: false,
      takesWrites: false,
      reason: messageOf(failure),
    }));
    return [...(await Promise.all(answers)), ...others];
  }

  async #loadOf(node: ClickHouseNode, signal: AbortSignal): Promise<ReplicaLoad> {
    const own = `WHERE database = ${sqlText(this.settings.database)}`;
    // These columns are read without asking ZooKeeper.
    const sql = `SELECT sum(bytes), sum(queued), max(delay) FROM (
        SELECT bytes_on_disk AS bytes, toUInt64(0) AS queued, toUInt64(0) AS delay
        FROM system.parts ${own} AND active
      UNION ALL
        SELECT toUInt64(0) AS bytes, toUInt64(queue_size) AS queued, absolute_delay AS delay
        FROM system.replicas ${own})`;
    const reader = new RowReader(await node.rows(sql, { signal }));
    const next = (): number => Number(reader.uint64());
    return { diskBytes: next(), queueCount: next(), delaySeconds: next() };
  }

  /** The shard of the unidentified replicas, if only one shard lacks replicas. */
  #shardOfUnidentified(): number | undefined {
    const lacking = this.#shards.flatMap((replicas, i) =>
      replicas.length < this.#replicaCount ? [i + 1] : [],
    );
    return lacking.length === 1 ? lacking[0] : undefined;
  }

  /** Reads from all shards in parallel. */
  rowsOfAll(sql: string, options: ReadOptions = {}): Promise<readonly Buffer[]> {
    return Promise.all(this.#shards.map((_, shard) => this.rows(shard, sql, options)));
  }

  /** Reads a table that is the same on every node. */
  rowsOfAny(sql: string, options: ReadOptions = {}): Promise<Buffer> {
    return this.onAny((node) => node.rows(sql, this.#limited(options)));
  }

  /** Runs work on one node, or on another one when the first is unreachable. */
  onAny<T>(work: (node: ClickHouseNode) => Promise<T>): Promise<T> {
    return this.#onReplica('all nodes', work);
  }

  /**
   * The same for idempotent work that needs ZooKeeper. Retries until `untilMs`, and fails at once
   * when no node can take writes.
   */
  onAnyWriter<T>(
    work: (node: ClickHouseNode, signal: AbortSignal) => Promise<T>,
    untilMs = this.patienceMs(),
  ): Promise<T> {
    return this.#onWriter({ target: 'all nodes', needed: 1, untilMs }, work);
  }

  /** The deadline (monotonic) of work that has none of its own. */
  patienceMs(): number {
    return this.#clock.monotonicMs() + LIMITS.insertMs.value;
  }

  /**
   * Inserts rows with the quorum. The same bytes may be sent again, because the table recognises
   * the block. Throws `Unreachable`, which names the replicas that take no writes, as soon as too
   * few others are left or when `untilMs` is over. After such a failure the next insert into the
   * same target is tried only once, so that the writes after it do not wait.
   */
  insert(target: Target, { into, rows, untilMs = this.patienceMs() }: Insertion): Promise<void> {
    const quorum = this.quorum;
    const settings: NodeSettings = {
      insert_deduplicate: 1,
      ...(quorum > 1 ? { insert_quorum: quorum, insert_quorum_timeout: QUORUM_MS } : {}),
    };
    return this.#onWriter({ target, needed: quorum, untilMs }, (node, signal) =>
      node.insert(into, rows, { settings, signal }),
    );
  }

  /**
   * Meanwhile all nodes of the target are probed, so that the attempt fails as soon as fewer than
   * `needed` nodes can take writes.
   */
  async #onWriter<T>(
    { target, needed, untilMs }: WriteAttempt,
    work: (node: ClickHouseNode, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const leftMs = Math.ceil(untilMs - this.#clock.monotonicMs());
    // What is sent after its deadline may be stored after its request was refused.
    if (leftMs <= 0)
      throw new Unreachable(`${nameOf(target)} does not take writes: no time is left for this one`);
    const writers = watchWriters(this.#nodesOf(target), needed);
    const signal = AbortSignal.any([AbortSignal.timeout(leftMs), writers.signal]);
    let cause: unknown;
    try {
      for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
        try {
          const result = await this.#onReplica(target, (node) => work(node, signal));
          this.#refusing.delete(target);
          return result;
        } catch (error) {
          // The deadline cancels a running statement.
          const isOver = signal.aborted && error instanceof Cancelled;
          if (!isOver && !(error instanceof Unreachable)) throw error;
          if (writers.signal.aborted) cause = writers.signal.reason;
          // An earlier error says more than that the deadline has passed.
          else if (cause === undefined || !signal.aborted) cause = error;
          const isLate = this.#clock.monotonicMs() + pauseMs > untilMs;
          if (writers.signal.aborted || this.#refusing.has(target) || isLate) {
            this.#refusing.add(target);
            throw new Unreachable(`${nameOf(target)} does not take writes: ${messageOf(cause)}`, {
              cause,
            });
          }
        }
        // The signal ends the pause early, and the next attempt fails at once.
        await this.#clock.sleep(pauseMs, signal).catch(() => undefined);
      }
    } finally {
      writers.end();
    }
  }

  /**
   * Runs an idempotent definition (DDL) on every node. Unreachable nodes run it when they are back.
   */
  async define(sql: (onCluster: string) => string, untilMs = this.patienceMs()): Promise<void> {
    for (let pauseMs = 20; ; pauseMs *= 2) {
      try {
        return await this.#tryDefine(sql);
      } catch (error) {
        // A node that has lost its ZooKeeper session fails once and then opens a new one.
        if (!(error instanceof Unreachable)) throw error;
        if (this.#clock.monotonicMs() + pauseMs > untilMs) throw error;
      }
      await this.#clock.sleep(pauseMs);
    }
  }

  async #tryDefine(sql: (onCluster: string) => string): Promise<void> {
    const signal = AbortSignal.timeout(LIMITS.insertMs.value);
    const results = await Promise.allSettled(
      this.nodes.map((node) => node.run(sql(''), { signal })),
    );
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    for (const failure of failures) if (!(failure instanceof Unreachable)) throw failure;
    if (failures.length === 0 && this.#unidentified.length === 0) return;
    // The DDL queue of ClickHouse keeps the definition for unreachable nodes; nothing waits for
    // them.
    const onCluster = `ON CLUSTER ${this.settings.cluster}`;
    try {
      const settings = { distributed_ddl_task_timeout: 0 };
      await this.onAny((node) => node.run(sql(onCluster), { settings, signal }));
    } catch (error) {
      if (!(error instanceof Queued)) throw error;
    }
  }

  /**
   * Alters a table of a shard. Resolves when one replica has done it; the others follow by
   * replication.
   */
  async alter(target: Target, table: string, change: string): Promise<void> {
    // Waiting for all replicas would wait for unreachable ones.
    const settings = { replication_alter_partitions_sync: 1 };
    const signal = AbortSignal.timeout(LIMITS.alterMs.value);
    await this.#onReplica(target, (node) =>
      node.run(`ALTER TABLE ${this.table(table)} ${change}`, { settings, signal }),
    );
  }

  /**
   * Starts a mutation that removes rows on every replica of a shard. Returns a marker in its text,
   * by which `isDeleteDone` recognises it.
   */
  async startDelete(target: Target, table: string, condition: string): Promise<string> {
    const mark = `'${crypto.randomUUID()}' != ''`;
    await this.alter(target, table, `DELETE WHERE (${condition}) AND ${mark}`);
    return mark;
  }

  /** Whether every replica has finished the mutation; `false` while one does not answer. */
  async isDeleteDone(target: Target, table: string, mark: string): Promise<boolean> {
    const state = `SELECT countIf(is_done), count() FROM system.mutations
      WHERE table = ${sqlText(table)} AND position(command, ${sqlText(mark)}) > 0`;
    if (this.#unidentified.length > 0) return false;
    const answers = await Promise.all(
      this.#nodesOf(target).map(async (node) => {
        try {
          const reader = new RowReader(await node.rows(state));
          // A replica learns of the mutation a moment after it was created.
          return reader.uint64() > 0n && reader.uint64() === 1n;
        } catch (error) {
          if (error instanceof Unreachable) return false;
          throw error;
        }
      }),
    );
    return answers.every(Boolean);
  }

  async close(): Promise<void> {
    await this.#asking;
    for (const node of [...this.nodes, ...this.#unidentified.map((one) => one.node)])
      await node.close();
  }

  #isSuspect(node: ClickHouseNode, nowMs: number): boolean {
    return nowMs - (this.#failedMs.get(node) ?? -Infinity) < LIMITS.askAgainMs.value;
  }

  /** Asks unidentified replicas again, from time to time. */
  #identifyLater(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#unidentified.length === 0 || this.#asking !== undefined || nowMs < this.#nextAskMs)
      return;
    this.#nextAskMs = nowMs + LIMITS.askAgainMs.value;
    this.#asking = (async () => {
      const { cluster } = this.settings;
      const asked = await Promise.all(
        this.#unidentified.map(async ({ node }) => {
          // A server with a wrong configuration stays unidentified; /health shows the reason.
          const answer = await identify(node, cluster).catch((failure: unknown): Identified => ({
            failure,
          }));
          return { node, ...answer };
        }),
      );
      for (const { node, identity } of asked)
        if (identity !== undefined) this.#shards[identity.shard - 1]?.push(node);
      this.#unidentified = asked.filter(({ identity }) => identity === undefined);
      this.#asking = undefined;
    })();
  }

  #nodesOf(target: Target): readonly ClickHouseNode[] {
    if (target === 'all nodes') return this.nodes;
    const shard = this.#shards[target];
    assert(shard !== undefined, 'a shard of the cluster is asked');
    return shard;
  }

  async #onReplica<T>(target: Target, work: (node: ClickHouseNode) => Promise<T>): Promise<T> {
    this.#identifyLater();
    const nodes = this.#nodesOf(target);
    const next = this.#next.get(target) ?? 0;
    this.#next.set(target, next + 1);
    const first = next % nodes.length;
    const nowMs = this.#clock.monotonicMs();
    // Nodes that failed a moment ago are tried last, because they may take long to fail again.
    const inTurn = [...nodes.slice(first), ...nodes.slice(0, first)].sort(
      (a, b) => Number(this.#isSuspect(a, nowMs)) - Number(this.#isSuspect(b, nowMs)),
    );
    let failure: unknown = new Unreachable('none of its replicas has answered yet');
    for (const node of inTurn) {
      try {
        return await work(node);
      } catch (error) {
        if (!(error instanceof Unreachable) || error instanceof Queued) throw error;
        this.#failedMs.set(node, nowMs);
        failure = error;
      }
    }
    throw failure;
  }
}

const NO_ROWS = Buffer.alloc(0);

const nameOf = (target: Target): string =>
  target === 'all nodes' ? 'the cluster' : `shard ${target + 1} of the cluster`;

/**
 * How long a replica waits for the quorum (`insert_quorum_timeout`) before the block is sent again.
 */
const QUORUM_MS = 5000;
