// Versions: numbers that order the writes and deletes of all front ends independently of their
// clocks. A version is the number (zxid) of a ZooKeeper transaction that is made for it, so it is
// higher than every earlier version of any front end.
import { assert } from '@tidemark/core';

import type { Cluster } from '../cluster/cluster.ts';
import { Unreachable } from '../cluster/failure.ts';
import type { ClickHouseNode } from '../cluster/node.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { CLOCK_TABLE } from '../sql/tables.ts';

/** The only partition of a table that is not partitioned. */
const PARTITION = 'all';

export class VersionClock {
  readonly #cluster: Cluster;
  /** The ZooKeeper path of each node's clock table. */
  readonly #paths = new WeakMap<ClickHouseNode, string>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /**
   * Returns a number above all versions and entries before the call, and the result of `after`,
   * which then reads from the same node and sees everything with a lower number.
   */
  next<T>(
    after: (node: ClickHouseNode, signal: AbortSignal) => Promise<T>,
    untilMs?: number,
  ): Promise<{ order: bigint; seen: T }> {
    return this.#cluster.onAnyWriter(async (node, signal) => {
      const path = await this.#pathOf(node, signal);
      await this.#tick(node, signal);
      const reader = new RowReader(
        await node.rows(
          `SELECT toUInt64(pzxid) FROM system.zookeeper
           WHERE path = ${sqlText(`${path}/block_numbers`)} AND name = '${PARTITION}'`,
          { asksZookeeper: true, signal },
        ),
      );
      assert(reader.hasMore, 'a clock that has ticked has a partition');
      const order = reader.uint64();
      return { order, seen: await after(node, signal) };
    }, untilMs);
  }

  /**
   * Drops the partition, which is always empty. ClickHouse reserves a block number for that, which
   * is a ZooKeeper transaction, and writes nothing else; an insert would write a part.
   */
  async #tick(node: ClickHouseNode, signal: AbortSignal): Promise<void> {
    const table = this.#cluster.table(CLOCK_TABLE);
    const settings = { replication_alter_partitions_sync: 0 };
    await node.run(`ALTER TABLE ${table} DROP PARTITION ID '${PARTITION}'`, { settings, signal });
  }

  async #pathOf(node: ClickHouseNode, signal: AbortSignal): Promise<string> {
    const known = this.#paths.get(node);
    if (known !== undefined) return known;
    const reader = new RowReader(
      await node.rows(
        `SELECT zookeeper_path FROM system.replicas
         WHERE database = ${sqlText(node.database)} AND table = '${CLOCK_TABLE}'`,
        { signal },
      ),
    );
    if (!reader.hasMore) throw new Unreachable(`ClickHouse has no clock yet. url=\`${node.name}\``);
    const path = reader.text();
    this.#paths.set(node, path);
    return path;
  }
}
