// The catalog of a simulation: ids of policies by name. As in the service, ids are used once, and a
// dropped name gets a new one.
import type { PolicyRef } from '@tidemark/storage-api';

import type { Cell } from '../model/world.ts';
import { SHARD_LENGTH } from './operations.ts';

type Entry = { readonly id: number; readonly database: string; readonly retentionPolicy: string };

export class Catalog {
  #entries: readonly Entry[] = [];
  /** Their data is being dropped. */
  #going: readonly Entry[] = [];
  /** All there ever were. */
  readonly #known: Entry[] = [];
  #nextId = 1;

  /** A new id for a name, which may have others already. */
  add(database: string, retentionPolicy: string): number {
    const id = this.#nextId++;
    const entry = { id, database, retentionPolicy };
    this.#known.push(entry);
    this.#entries = [...this.#entries, entry];
    return id;
  }

  has(database: string): boolean {
    return this.#entries.some((entry) => entry.database === database);
  }

  /** The policy of a write; created when the name is new or was dropped. */
  policy(database: string, retentionPolicy: string): PolicyRef {
    const going = this.#going.find(
      (entry) => entry.database === database && entry.retentionPolicy === retentionPolicy,
    );
    if (going !== undefined) return policyRef(going);
    const id = this.known(database, retentionPolicy) ?? this.add(database, retentionPolicy);
    return policyRef({ id, database, retentionPolicy });
  }

  known(database: string, retentionPolicy: string): number | undefined {
    return this.#entries.find(
      (entry) => entry.database === database && entry.retentionPolicy === retentionPolicy,
    )?.id;
  }

  policies(): PolicyRef[] {
    return this.#entries.map(policyRef);
  }

  /** Removes names; returns their ids. Until `dropped`, writes that have found the names go on. */
  drop(database: string, retentionPolicy?: string): number[] {
    const isGone = (entry: Entry): boolean =>
      entry.database === database &&
      (retentionPolicy === undefined || entry.retentionPolicy === retentionPolicy);
    const gone = this.#entries.filter(isGone);
    this.#entries = this.#entries.filter((entry) => !isGone(entry));
    this.#going = [...this.#going, ...gone];
    return gone.map(({ id }) => id);
  }

  /** The data of these is gone, or their drop has failed. */
  dropped(ids: readonly number[]): void {
    this.#going = this.#going.filter(({ id }) => !ids.includes(id));
  }

  /** After a start. */
  forgetDrops(): void {
    this.#going = [];
  }

  /** Every id that may be in a backup of the database, with its name. */
  everPolicies(database: string): (readonly [id: number, retentionPolicy: string])[] {
    return this.#known
      .filter((entry) => entry.database === database)
      .map(({ id, retentionPolicy }) => [id, retentionPolicy] as const);
  }

  /** The cell of a name (`nameOf`) under the present policy. */
  cellNamed(name: string): Cell {
    const [where = '', series = '', time = ''] = name.split(' ');
    const [database = '', retentionPolicy = ''] = where.split('.');
    const [measurement = '', tag = ''] = series.split(',');
    const policyId = this.known(database, retentionPolicy) ?? 0;
    return { policyId, database, retentionPolicy, measurement, tag, time: Number(time) };
  }
}

/** The policy with this id. */
export function policyRef({ id, database, retentionPolicy }: Entry): PolicyRef {
  return {
    id,
    database,
    retentionPolicy,
    shardDurationNanos: BigInt(SHARD_LENGTH),
    maxSeriesPerDatabase: 0,
    maxValuesPerTag: 0,
  };
}
