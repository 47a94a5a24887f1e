// Databases that are neither read nor changed because some of their data is lost: entries of the
// series index, or records of the log. Other databases are served. The manifest lists them until
// `repair` has run.
import type { Damage } from '@tidemark/storage-api';

import { unchangeable } from '../damage.ts';
import type { StoppedDatabase } from '../manifest/manifest.ts';

export class StoppedDatabases {
  readonly #byName = new Map<string, Damage>();
  /** Damage that may concern any database. */
  #all: Damage | undefined;

  /** Only the first reason is kept. */
  stop({ database, file, offset, message }: StoppedDatabase): void {
    const damage = { file, offset, message };
    if (database === undefined) this.#all ??= damage;
    else if (!this.#byName.has(database)) this.#byName.set(database, damage);
  }

  /** Why a database is stopped; `undefined` when it is not. */
  reason(database: string): Damage | undefined {
    return this.#byName.get(database) ?? this.#all;
  }

  /** Throws `Corruption` when the database must not be changed. */
  requireServed(database: string): void {
    const damage = this.reason(database);
    if (damage !== undefined) throw unchangeable(damage);
  }

  /** Call it when the database is dropped. */
  forget(database: string): void {
    this.#byName.delete(database);
  }

  /** The entries of the manifest. */
  list(): readonly StoppedDatabase[] {
    const named = Array.from(this.#byName, ([database, damage]) => ({ database, ...damage }));
    return this.#all === undefined ? named : [...named, this.#all];
  }
}
