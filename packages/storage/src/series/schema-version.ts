// Versions of the schema: numbers that are incremented when the answer to a schema look-up may have
// changed. A database has two: one for the names of fields and tags and for the shards that hold
// them, and one for everything, including new series. They are in shared memory, so that another
// thread can cache answers and check without a message whether they are still valid.

/**
 * Number of databases with versions of their own. With more, several share a version, and some
 * cached answers are dropped needlessly.
 */
const SLOTS = 1024;
const COUNTER_COUNT = 1 + 2 * SLOTS;

/** Which version an answer depends on. */
export type SchemaScope = 'names' | 'series';

/**
 * The versions of an engine. The engine of a rehearsal shares those of the other engine in its
 * thread.
 */
export class SchemaVersions {
  readonly counters: Int32Array<SharedArrayBuffer>;

  constructor(counters = new Int32Array(new SharedArrayBuffer(COUNTER_COUNT * 4))) {
    this.counters = counters;
  }

  of(database: string, scope: SchemaScope): number {
    return Atomics.load(this.counters, slotOf(database) + (scope === 'names' ? 0 : 1));
  }

  /** Number of changes of all databases. */
  get total(): number {
    return Atomics.load(this.counters, 0);
  }

  count(slot: number, scope: SchemaScope): void {
    if (scope === 'names') Atomics.add(this.counters, slot, 1);
    Atomics.add(this.counters, slot + 1, 1);
    Atomics.add(this.counters, 0, 1);
  }
}

/** Takes the changes of one database and increments its versions. */
export class SchemaChanges {
  readonly #versions: SchemaVersions;
  readonly #slot: number;

  constructor(database: string, versions: SchemaVersions) {
    this.#versions = versions;
    this.#slot = slotOf(database);
  }

  /**
   * A field, tag key or shard was added or removed, or series were removed, whose names may go with
   * them.
   */
  names(): void {
    this.#versions.count(this.#slot, 'names');
  }

  /** A series was added. If it brings new names, these are reported by `names`. */
  series(): void {
    this.#versions.count(this.#slot, 'series');
  }
}

/** FNV-1a hash of the name. */
function slotOf(database: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < database.length; i++) {
    hash = Math.imul(hash ^ database.charCodeAt(i), 0x01000193);
  }
  return 1 + 2 * ((hash >>> 0) % SLOTS);
}
