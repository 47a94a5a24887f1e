// Databases that are neither read nor changed, because something that they wrote is lost: entries
// of the series index, or records of the log. Others are served. The manifest keeps it, until
// `repair` has run.
import { unchangeable } from '../damage.ts';
import type { Damage } from '../damage.ts';
import type { StoppedDatabase } from '../manifest/manifest.ts';

export class StoppedDatabases {
  readonly #byName = new Map<string, Damage>();
  /** Damage of which it is not known whose it is. */
  #all: Damage | undefined;

  /** The first reason stays. */
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
  needUnstopped(database: string): void {
    const damage = this.reason(database);
    if (damage !== undefined) throw unchangeable(damage);
  }

  /** The database is gone. */
  forget(database: string): void {
    this.#byName.delete(database);
  }

  /** As the manifest has them. */
  list(): readonly StoppedDatabase[] {
    const named = Array.from(this.#byName, ([database, damage]) => ({ database, ...damage }));
    return this.#all === undefined ? named : [...named, this.#all];
  }
}
