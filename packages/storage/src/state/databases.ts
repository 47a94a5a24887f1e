// All databases by name. Those that are being restored have ids, and their names are taken, but
// they are not visible.
import { Conflict, Unavailable } from '@tidemark/core';

import type { ManifestDatabase } from '../manifest/manifest.ts';
import { Database } from './database.ts';
import type { IndexResources } from './database.ts';
import type { Ids } from './ids.ts';

export class Databases {
  readonly #resources: IndexResources;
  readonly #ids: Ids;
  readonly #byName = new Map<string, Database>();
  readonly #restoring = new Set<Database>();

  constructor(ids: Ids, resources: IndexResources) {
    this.#ids = ids;
    this.#resources = resources;
  }

  /** Memory of the postings of all indexes. */
  get postingsBytes(): number {
    return this.#resources.cache.postings.memoryBytes;
  }

  /** Memory of the order of tag values and series of all indexes. */
  get ranksBytes(): number {
    return this.#resources.cache.ranks.memoryBytes;
  }

  get(name: string): Database | undefined {
    return this.#byName.get(name);
  }

  all(): Iterable<Database> {
    return this.#byName.values();
  }

  /** Whether this very database still exists, as opposed to a later one of the same name. */
  has(database: Database): boolean {
    return this.#byName.get(database.name) === database;
  }

  /** The database of a write, created if there is none. */
  getOrAdd(name: string): Database {
    const known = this.#byName.get(name);
    if (this.#restoring.size > 0 && this.#isRestoring(name)) {
      throw new Unavailable(`database is being restored. database=\`${name}\``);
    }
    return known ?? this.add({ name, instance: this.#ids.takeInstance() });
  }

  add(ref: ManifestDatabase): Database {
    const database = this.#make(ref);
    this.#byName.set(ref.name, database);
    return database;
  }

  #make({ name, instance, indexFile = instance }: ManifestDatabase): Database {
    this.#ids.reserve({ nextInstance: Math.max(instance, indexFile) + 1 });
    return new Database({ name, instance, indexFile }, this.#resources);
  }

  delete(database: Database): void {
    this.#byName.delete(database.name);
    database.index.close();
  }

  /**
   * Creates the database of a restore, which is invisible until `adopt`. Throws `Conflict` when
   * there is data under the name; a database without shards will be replaced.
   */
  reserve(name: string, hasShards: boolean): Database {
    if (hasShards || this.#isRestoring(name)) {
      throw new Conflict(`database exists already. database=\`${name}\``);
    }
    // `adopt` closes the index of the one that is replaced, and must not fail.
    this.#byName.get(name)?.stored.read();
    const database = this.#make({ name, instance: this.#ids.takeInstance() });
    this.#restoring.add(database);
    return database;
  }

  /** Frees the name when a restore fails. */
  release(database: Database): void {
    this.#restoring.delete(database);
  }

  /** Makes a restored database visible. */
  adopt(database: Database): void {
    this.#restoring.delete(database);
    this.#byName.get(database.name)?.index.close();
    this.#byName.set(database.name, database);
  }

  #isRestoring(name: string): boolean {
    for (const database of this.#restoring) if (database.name === name) return true;
    return false;
  }

  /** Ids of the index files that databases use. */
  *indexFileIds(): Generator<number> {
    for (const database of [...this.#byName.values(), ...this.#restoring]) {
      yield database.stored.fileId;
      if (database.rebuild !== undefined) yield database.rebuild.stored.fileId;
    }
  }
}
