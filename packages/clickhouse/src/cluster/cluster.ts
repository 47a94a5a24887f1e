// The shards and replicas behind the URLs, and which of them is asked. Every URL is one replica; a
// series lives on one shard, which its id says.
import { assert, Conflict, InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import { sqlName, sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { Queued, Unreachable } from './failure.ts';
import type { ClickHouseNode, NodeSettings, ReadOptions } from './node.ts';
import { ask, placeOf } from './place-of.ts';

export type ClusterSettings = {
  readonly urls: readonly string[];
  /** In which all tables are. */
  readonly database: string;
  /** As the servers' configuration names the cluster. */
  readonly cluster: string;
  /** Answers without the shards of which no replica answers, to those who can be told. */
  readonly givesPartialAnswers: boolean;
  /** After which the servers end a statement that reads; 0 is never. */
  readonly readTimeoutMs: number;
};

/** Whether a replica answers. */
export type ReplicaState = {
  /** From 1 on; `undefined` while it has not said yet. */
  readonly shard: number | undefined;
  readonly url: string;
  readonly isUp: boolean;
  readonly reason?: string | undefined;
};

type Found = {
  readonly shards: readonly Shard[];
  readonly away: readonly ClickHouseNode[];
  /** Of each shard, as the servers know it. */
  readonly replicaCount: number;
};

type Shard = {
  readonly replicas: ClickHouseNode[];
  /** Where the next read begins, so that replicas share the work. */
  next: number;
};

export class Cluster {
  readonly settings: ClusterSettings;
  readonly #clock: Clock;
  readonly #shards: readonly Shard[];
  /** Replicas of which it is not known yet which shard they are. */
  #away: readonly ClickHouseNode[];
  readonly #replicaCount: number;
  readonly #failedMs = new Map<ClickHouseNode, number>();
  #asking: Promise<void> | undefined;
  #nextAskMs = 0;

  private constructor(settings: ClusterSettings, clock: Clock, found: Found) {
    this.settings = settings;
    this.#clock = clock;
    this.#shards = found.shards;
    this.#away = found.away;
    this.#replicaCount = found.replicaCount;
  }

  /**
   * Asks every URL which shard it is. One that does not answer is asked again later; throws when a
   * shard has none that does.
   */
  static async open(settings: ClusterSettings, clock: Clock): Promise<Cluster> {
    const { urls } = settings;
    if (urls.length === 0)
      throw new InvalidRequest(
        'storage.engine is clickhouse, and storage.clickhouse-urls names no server',
      );
    const asked = await Promise.all(urls.map((url) => ask(url, settings.cluster)));
    const shape = asked.flatMap(({ place }) => (place === undefined ? [] : [place]))[0];
    if (shape === undefined) throw asked[0]?.failure;
    const { shardCount, replicaCount } = shape;
    const shards = Array.from({ length: shardCount }, (_, i): Shard => ({
      replicas: asked.flatMap(({ node, place }) => (place?.shard === i + 1 ? [node] : [])),
      next: i,
    }));
    const away = asked.flatMap(({ node, place }) => (place === undefined ? [node] : []));
    const missing = shards.findIndex(({ replicas }) => replicas.length === 0);
    if (missing >= 0) {
      for (const { node } of asked) await node.close();
      if (away.length > 0) throw asked.find(({ failure }) => failure !== undefined)?.failure;
      throw new Conflict(
        `storage.clickhouse-urls names no replica of shard ${missing + 1} of ${shardCount}`,
      );
    }
    return new Cluster(settings, clock, { shards, away, replicaCount });
  }

  /** A table's name with its database, in front of whatever follows it. */
  table(name: string): string {
    return `${sqlName(this.settings.database)}.${name}`;
  }

  get shardCount(): number {
    return this.#shards.length;
  }

  /** Replicas of every shard that must have a row before it is acknowledged: most of them. */
  get quorum(): number {
    return Math.floor(this.#replicaCount / 2) + 1;
  }

  /** Of all shards together. */
  get nodes(): readonly ClickHouseNode[] {
    return this.#shards.flatMap(({ replicas }) => replicas);
  }

  /** Index of the shard that holds a series. */
  shardOfSeries(id: bigint): number {
    return Number(id % BigInt(this.#shards.length));
  }

  /** Reads from one replica of a shard; from another one when that can not be reached. */
  async rows(shard: number, sql: string, options: ReadOptions = {}): Promise<Buffer> {
    try {
      return await this.#onReplica(shard, (node) => node.rows(sql, this.#limited(options)));
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      const reason = `shard ${shard + 1} of the cluster does not answer: ${messageOf(error)}`;
      if (options.onAway === undefined)
        throw new Unavailable(`${reason}; coordinator.partial-answers = true answers without it`, {
          cause: error,
        });
      options.onAway(reason);
      return NO_ROWS;
    }
  }

  #limited({ settings, ...options }: ReadOptions): ReadOptions {
    const { readTimeoutMs } = this.settings;
    if (readTimeoutMs === 0) return { ...options, settings };
    const seconds = Math.ceil(readTimeoutMs / 1000);
    return { ...options, settings: { ...settings, max_execution_time: seconds } };
  }

  /** Asks every replica whether it is there. */
  async replicas(): Promise<readonly ReplicaState[]> {
    const known = this.#shards.flatMap(({ replicas }, i) =>
      replicas.map((node) => ({ node, shard: i + 1 })),
    );
    const others = this.#away.map((node) => ({ node, shard: undefined }));
    return Promise.all(
      [...known, ...others].map(async ({ node, shard }): Promise<ReplicaState> => {
        try {
          await node.rows('SELECT 1', { signal: AbortSignal.timeout(LIMITS.probeMs.value) });
          return { shard, url: node.name, isUp: true };
        } catch (error) {
          return { shard, url: node.name, isUp: false, reason: messageOf(error) };
        }
      }),
    );
  }

  /** Reads from every shard, at once. */
  rowsOfAll(sql: string, options: ReadOptions = {}): Promise<readonly Buffer[]> {
    return Promise.all(this.#shards.map((_, shard) => this.rows(shard, sql, options)));
  }

  /** Reads what every node holds alike. */
  rowsOfAny(sql: string, options: ReadOptions = {}): Promise<Buffer> {
    return this.#onReplica(0, (node) => node.rows(sql, this.#limited(options)));
  }

  /** Has one node do what any could; another one when that can not be reached. */
  onAny<T>(work: (node: ClickHouseNode) => Promise<T>): Promise<T> {
    return this.#onReplica(0, work);
  }

  /**
   * Inserts into a shard, with the quorum. `into` names table, columns and format. The same bytes
   * may be sent again: the table knows the block. Throws `Unavailable` when it is not stored within
   * `LIMITS.insertMs`.
   */
  async insert(shard: number, into: string, rows: Uint8Array): Promise<void> {
    const quorum = this.quorum;
    const settings: NodeSettings = {
      insert_deduplicate: 1,
      ...(quorum > 1 ? { insert_quorum: quorum, insert_quorum_timeout: QUORUM_MS } : {}),
    };
    const until = this.#clock.monotonicMs() + LIMITS.insertMs.value;
    for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
      try {
        await this.#onReplica(shard, (node) => node.insert(into, rows, settings));
        return;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        if (this.#clock.monotonicMs() + pauseMs > until)
          throw new Unavailable(
            `shard ${shard + 1} of the cluster does not take writes: ${messageOf(error)}`,
            { cause: error },
          );
      }
      await this.#clock.sleep(pauseMs);
    }
  }

  /**
   * Runs a definition, which may be run twice, on every node. Those that are away do it when they
   * are back.
   */
  async define(sql: (onCluster: string) => string): Promise<void> {
    const results = await Promise.allSettled(this.nodes.map((node) => node.run(sql(''))));
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    for (const failure of failures) if (!(failure instanceof Unreachable)) throw failure;
    if (failures.length === 0 && this.#away.length === 0) return;
    // Through the queue of the cluster, which keeps it for whoever is away.
    const onCluster = `ON CLUSTER ${this.settings.cluster}`;
    try {
      await this.#onReplica(0, (node) =>
        node.run(sql(onCluster), { distributed_ddl_task_timeout: LIMITS.defineSeconds.value }),
      );
    } catch (error) {
      if (!(error instanceof Queued)) throw error;
    }
  }

  /** Changes a table of a shard, on its replicas. */
  async alter(shard: number, table: string, change: string): Promise<void> {
    await this.#onReplica(shard, (node) =>
      node.run(`ALTER TABLE ${this.table(table)} ${change}`, {
        replication_alter_partitions_sync: 2,
      }),
    );
  }

  /** Has rows of a shard deleted, on every replica; a mark by which the change is recognised. */
  async startDelete(shard: number, table: string, condition: string): Promise<string> {
    const mark = `'${crypto.randomUUID()}' != ''`;
    await this.alter(shard, table, `DELETE WHERE (${condition}) AND ${mark}`);
    return mark;
  }

  /**
   * Resolves when every replica that answers has deleted; who is away does it when it is back. A
   * replica knows of the change a moment after it was made.
   */
  async endDelete(shard: number, table: string, mark: string): Promise<void> {
    const state = `SELECT countIf(is_done), count() FROM system.mutations
      WHERE table = ${sqlText(table)} AND position(command, ${sqlText(mark)}) > 0`;
    for (const node of this.#shards[shard]?.replicas ?? []) {
      while (!(await isDoneOn(node, state))) await this.#clock.sleep(POLL_MS);
    }
  }

  async close(): Promise<void> {
    await this.#asking;
    for (const node of [...this.nodes, ...this.#away]) await node.close();
  }

  #isSuspect(node: ClickHouseNode, nowMs: number): boolean {
    return nowMs - (this.#failedMs.get(node) ?? -Infinity) < LIMITS.askAgainMs.value;
  }

  /** Now and then, asks those who did not answer before. */
  #askAway(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#away.length === 0 || this.#asking !== undefined || nowMs < this.#nextAskMs) return;
    this.#nextAskMs = nowMs + LIMITS.askAgainMs.value;
    this.#asking = (async () => {
      const asked = await Promise.all(
        this.#away.map(async (node) => ({ node, ...(await placeOf(node, this.settings.cluster)) })),
      );
      for (const { node, place } of asked)
        if (place !== undefined) this.#shards[place.shard - 1]?.replicas.push(node);
      this.#away = asked.flatMap(({ node, place }) => (place === undefined ? [node] : []));
      this.#asking = undefined;
    })();
  }

  async #onReplica<T>(index: number, work: (node: ClickHouseNode) => Promise<T>): Promise<T> {
    const shard = this.#shards[index];
    assert(shard !== undefined, 'a shard of the cluster is asked');
    this.#askAway();
    const { replicas } = shard;
    const first = shard.next++ % replicas.length;
    const nowMs = this.#clock.monotonicMs();
    // Who did not answer a moment ago comes last: it may take long to say so again.
    const inTurn = [...replicas.slice(first), ...replicas.slice(0, first)].sort(
      (a, b) => Number(this.#isSuspect(a, nowMs)) - Number(this.#isSuspect(b, nowMs)),
    );
    let failure: unknown;
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

/** How long a replica waits for the others before a block is sent again. */
const QUORUM_MS = 5000;

/** How often the end of a change is looked for. */
const POLL_MS = 20;

async function isDoneOn(node: ClickHouseNode, state: string): Promise<boolean> {
  try {
    const reader = new RowReader(await node.rows(state));
    return reader.uint64() > 0n && reader.uint64() === 1n;
  } catch (error) {
    if (error instanceof Unreachable) return true;
    throw error;
  }
}
