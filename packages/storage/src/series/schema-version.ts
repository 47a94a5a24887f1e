// Versions of the schema: numbers that grow whenever a schema look-up could have another answer.
// Two per database: one for the names of fields and tags, and the shards that hold them; and one
// for everything, new series included. They lie in shared memory, so that another thread can cache
// answers and check without a message that they are still valid.

/**
 * With more databases, several share a version; then some cached answers are dropped needlessly.
 */
const SLOTS = 1024;
const COUNTER_COUNT = 1 + 2 * SLOTS;

/** Which changes make a cached answer invalid. */
export type SchemaScope = 'names' | 'series';

/** The numbers of an engine; one that is rehearsed with shares those of its neighbour. */
export class SchemaVersions {
  readonly counters: Int32Array<SharedArrayBuffer>;

  constructor(counters = new Int32Array(new SharedArrayBuffer(COUNTER_COUNT * 4))) {
    this.counters = counters;
  }

  of(database: string, scope: SchemaScope): number {
    return Atomics.load(this.counters, slotOf(database) + (scope === 'names' ? 0 : 1));
  }

  /** Grows with every change of any database. */
  get total(): number {
    return Atomics.load(this.counters, 0);
  }

  count(slot: number, scope: SchemaScope): void {
    if (scope === 'names') Atomics.add(this.counters, slot, 1);
    Atomics.add(this.counters, slot + 1, 1);
    Atomics.add(this.counters, 0, 1);
  }
}

/** Takes reports of changes of one database, from the owners of its names and series. */
export class SchemaChanges {
  readonly #versions: SchemaVersions;
  readonly #slot: number;

  constructor(database: string, versions: SchemaVersions) {
    this.#versions = versions;
    this.#slot = slotOf(database);
  }

  /**
   * Fields, tag keys or shards have come or gone, or series have gone: with the last of them, names
   * go.
   */
  names(): void {
    this.#versions.count(this.#slot, 'names');
  }

  /** A series has come; its names have been reported by whoever holds them. */
  series(): void {
    this.#versions.count(this.#slot, 'series');
  }
}

/** FNV-1a. */
function slotOf(database: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < database.length; i++) {
    hash = Math.imul(hash ^ database.charCodeAt(i), 0x01000193);
  }
  return 1 + 2 * ((hash >>> 0) % SLOTS);
}
