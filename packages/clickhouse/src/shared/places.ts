// Places in the list of what front ends agree on, each taken once and for all. A place is the path
// of a replicated table in ZooKeeper: who creates it first has taken it with the name of its only
// column, and whoever comes later is told that the structure is another one.
import { assert } from '@tidemark/core';

import type { Cluster } from '../cluster/cluster.ts';
import { errorCode, isAbsentPath } from '../cluster/failure.ts';
import type { ClickHouseNode } from '../cluster/node.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';

/** So many of the newest places are kept. */
const KEPT_PLACES = 8;

/** The replica is there already, or the table: this proposal has taken the place before. */
const IS_MINE = new Set(['57', '253']);
/** The structure in ZooKeeper is another one. */
const IS_TAKEN = new Set(['122', '342']);

/** The first place, which everyone takes alike: the list is never without one. */
const ORIGIN = 'origin';

/** A place with the proposal that has taken it. */
export type Place = { readonly version: number; readonly proposal: string };

export class Places {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The last place that is taken. */
  newest(): Promise<Place> {
    return this.#cluster.onAny((node) => this.#newest(node));
  }

  async #newest(node: ClickHouseNode): Promise<Place> {
    let versions = await this.#versions(node);
    if (versions.length === 0) {
      await this.#create(node, 0, ORIGIN);
      versions = await this.#versions(node);
    }
    const version = Math.max(...versions);
    const where = `path = ${sqlText(this.#path(version))} AND name = 'columns'`;
    const reader = new RowReader(
      await node.rows(`SELECT value FROM system.zookeeper WHERE ${where}`),
    );
    const [, proposal] = /`p_(\w+)`/.exec(reader.hasMore ? reader.text() : '') ?? [];
    assert(proposal !== undefined, 'a place names its proposal');
    return { version, proposal: proposal === ORIGIN ? '' : proposal };
  }

  /**
   * Tries to take a place; what is the newest one then. When that is a later place, who has taken
   * this one is what the later one follows. May be asked again.
   */
  take(version: number, proposal: string): Promise<Place> {
    return this.#cluster.onAny(async (node) => {
      const isMine = await this.#create(node, version, proposal);
      // The same node has seen everything that came before its answer.
      const newest = await this.#newest(node);
      if (isMine) await this.#tidy(node, newest.version - KEPT_PLACES);
      return newest;
    });
  }

  async #create(node: ClickHouseNode, version: number, proposal: string): Promise<boolean> {
    try {
      await node.run(
        `CREATE TABLE ${this.#table(`${version}_${proposal}`)} (p_${proposal} UInt8)
         ENGINE = ReplicatedMergeTree(${sqlText(this.#path(version))}, '{shard}-{replica}')
         ORDER BY tuple()`,
      );
      return true;
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (IS_MINE.has(code)) return true;
      if (IS_TAKEN.has(code)) return false;
      throw error;
    }
  }

  async #versions(node: ClickHouseNode): Promise<readonly number[]> {
    try {
      const where = `path = ${sqlText(this.#path())}`;
      const reader = new RowReader(
        await node.rows(`SELECT name FROM system.zookeeper WHERE ${where}`),
      );
      const versions: number[] = [];
      while (reader.hasMore) versions.push(Number(reader.text()));
      return versions;
    } catch (error) {
      if (isAbsentPath(error)) return [];
      throw error;
    }
  }

  /** Gives back places that nobody needs any more, as far as this node has them. */
  async #tidy(node: ClickHouseNode, last: number): Promise<void> {
    const { database } = this.#cluster.settings;
    const reader = new RowReader(
      await node.rows(
        `SELECT name FROM system.tables WHERE database = ${sqlText(database)}
           AND startsWith(name, '${PREFIX}')`,
      ),
    );
    while (reader.hasMore) {
      const name = reader.text().slice(PREFIX.length);
      if (Number.parseInt(name, 10) <= last) await this.#drop(node, name);
    }
  }

  async #drop(node: ClickHouseNode, name: string): Promise<void> {
    await node.run(`DROP TABLE IF EXISTS ${this.#table(name)}`);
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
