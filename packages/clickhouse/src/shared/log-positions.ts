// Positions of the shared log: compare-and-set through ZooKeeper. A position is the path of a
// replicated table. The first front end that creates the table takes the position for the proposal
// that its only column names; later ones get an error, because their column differs.
import { assert } from '@tidemark/core';

import type { Cluster } from '../cluster/cluster.ts';
import { errorCode, isAbsentPath } from '../cluster/failure.ts';
import type { ClickHouseNode } from '../cluster/node.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';

/** Tables of older positions are dropped. */
const KEPT_POSITIONS = 8;

/** Table or replica exists already: this proposal has taken the position before. */
const IS_MINE = new Set(['57', '253']);
/** ZooKeeper has another structure: another proposal has taken the position. */
const IS_TAKEN = new Set(['122', '342']);

/**
 * The proposal of position 0, which is the same for all front ends, so that the log is never empty.
 */
const ORIGIN = 'origin';

type Proposed = { readonly version: number; readonly proposal: string };

/** A position with the proposal that has taken it. */
export type LogPosition = Proposed & {
  /** The ZooKeeper transaction that took the position (`VersionClock`). */
  readonly order: bigint;
};

export class LogPositions {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The last position of the log. */
  newest(): Promise<LogPosition> {
    return this.#cluster.onAnyWriter((node, signal) => this.#newest(node, signal));
  }

  /** The number of the last position, as one node sees it. */
  async newestVersion(node: ClickHouseNode, signal: AbortSignal): Promise<number> {
    return Math.max(0, ...(await this.#orders(node, signal)).keys());
  }

  async #newest(node: ClickHouseNode, signal: AbortSignal): Promise<LogPosition> {
    let orders = await this.#orders(node, signal);
    if (orders.size === 0) {
      await this.#create(node, { version: 0, proposal: ORIGIN, signal });
      orders = await this.#orders(node, signal);
    }
    const version = Math.max(...orders.keys());
    const order = orders.get(version);
    const where = `path = ${sqlText(this.#path(version))} AND name = 'columns'`;
    const reader = new RowReader(
      await node.rows(`SELECT value FROM system.zookeeper WHERE ${where}`, {
        asksZookeeper: true,
        signal,
      }),
    );
    const [, proposal] = /`p_(\w+)`/.exec(reader.hasMore ? reader.text() : '') ?? [];
    assert(proposal !== undefined, 'a position names its proposal');
    assert(order !== undefined, 'a position has a place in the order of writes');
    return { version, proposal: proposal === ORIGIN ? '' : proposal, order };
  }

  /**
   * Tries to take a position, and returns the newest one afterwards. If that is a later one, its
   * chain of parents tells which proposal has taken this one. Idempotent.
   */
  take(version: number, proposal: string, untilMs?: number): Promise<LogPosition> {
    return this.#cluster.onAnyWriter(async (node, signal) => {
      const isMine = await this.#create(node, { version, proposal, signal });
      // The same node sees everything that happened before its answer.
      const newest = await this.#newest(node, signal);
      if (isMine) await this.#tidy(node, newest.version - KEPT_POSITIONS, signal);
      return newest;
    }, untilMs);
  }

  async #create(
    node: ClickHouseNode,
    { version, proposal, signal }: Proposed & { readonly signal: AbortSignal },
  ): Promise<boolean> {
    try {
      await node.run(
        `CREATE TABLE ${this.#table(`${version}_${proposal}`)} (p_${proposal} UInt8)
         ENGINE = ReplicatedMergeTree(${sqlText(this.#path(version))}, '{shard}-{replica}')
         ORDER BY tuple()`,
        { signal },
      );
      return true;
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (IS_MINE.has(code)) return true;
      if (IS_TAKEN.has(code)) return false;
      throw error;
    }
  }

  /** The transaction that created each position. */
  async #orders(node: ClickHouseNode, signal: AbortSignal): Promise<ReadonlyMap<number, bigint>> {
    const orders = new Map<number, bigint>();
    try {
      const where = `path = ${sqlText(this.#path())}`;
      const reader = new RowReader(
        await node.rows(`SELECT name, toUInt64(czxid) FROM system.zookeeper WHERE ${where}`, {
          asksZookeeper: true,
          signal,
        }),
      );
      while (reader.hasMore) orders.set(Number(reader.text()), reader.uint64());
    } catch (error) {
      if (!isAbsentPath(error)) throw error;
    }
    return orders;
  }

  /** Drops the tables of old positions that this node has. */
  async #tidy(node: ClickHouseNode, last: number, signal: AbortSignal): Promise<void> {
    const { database } = this.#cluster.settings;
    const reader = new RowReader(
      await node.rows(
        `SELECT name FROM system.tables WHERE database = ${sqlText(database)}
           AND startsWith(name, '${PREFIX}')`,
        { signal },
      ),
    );
    while (reader.hasMore) {
      const name = reader.text().slice(PREFIX.length);
      if (Number.parseInt(name, 10) <= last)
        await node.run(`DROP TABLE IF EXISTS ${this.#table(name)}`, { signal });
    }
  }

  #table(name: string): string {
    return this.#cluster.table(PREFIX + name);
  }

  #path(version?: number): string {
    const path = `/tidemark/${this.#cluster.settings.database}/places`;
    return version === undefined ? path : `${path}/${version}`;
  }
}

const PREFIX = 'place_';
