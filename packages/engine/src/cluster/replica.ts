// The metadata of an instance that does not lead: a copy of what the leader stores, kept up to date
// by the shared log. The directory knows how far it has come; one that belonged to a leader, which
// may hold more than the log has, is filled anew.
import { assert, InvalidRequest } from '@tidemark/core';
import type { LogRecord, MessageLog } from '@tidemark/cluster';
import type { Database } from 'lmdb';
import { Metadata } from '../store/metadata.ts';
import type { Identity, KeyOptions, StoreKey } from '../store/metadata.ts';
import { readKey } from '../store/store-cipher.ts';
import type { StoreChange } from '../store/change-feed.ts';
import { formatAt, TooOld } from './build.ts';
import type { Build } from './build.ts';
import { RecordLabel } from './change-record.ts';

/** The one entry of the table `replica`. */
type Position = {
  readonly cluster: string;
  /** Number of the last record that is in the tables. */
  readonly sequence: number;
  /** They are a leader's, and may hold changes that the log does not have. */
  readonly isLeading: boolean;
};

const OWN = 'replica';
const LOCAL_TABLES: ReadonlySet<string> = new Set(['identity', OWN]);

/** Tables that a user would miss. */
const DEFINITIONS = ['tasks', 'templates', 'overrides', 'handler-specs'];

export type ReplicaOptions = {
  readonly directory: string;
  readonly cluster: string;
  readonly key: KeyOptions;
  readonly build: Build;
};

export class Replica {
  readonly metadata: Metadata;
  readonly #cluster: string;
  readonly #build: Build;
  readonly #tables = new Map<string, Database<Buffer, StoreKey>>();
  readonly #own: Database<Position, string>;
  #position: Position;
  /** Parts of everything, until its end is there. */
  #whole: StoreChange[] | undefined;

  private constructor(
    metadata: Metadata,
    { cluster, build }: Pick<ReplicaOptions, 'cluster' | 'build'>,
  ) {
    this.metadata = metadata;
    this.#cluster = cluster;
    this.#build = build;
    this.#own = metadata.root.openDB({ name: OWN, encoding: 'json' });
    const stored = this.#own.get('position');
    this.#position = stored ?? { cluster, sequence: 0, isLeading: false };
  }

  static async open({ directory, key, ...rest }: ReplicaOptions): Promise<Replica> {
    return new Replica(await Metadata.open(directory, key), rest);
  }

  /**
   * Makes the metadata of a single engine an empty copy of a cluster, which is filled when it is
   * opened. It keeps the name of its instance.
   */
  static async adopt(
    metadata: Metadata,
    { cluster, key, directory }: Omit<ReplicaOptions, 'build'>,
  ): Promise<void> {
    const { root } = metadata;
    const cipher = readKey({ ...key, directory, isNeeded: true });
    const identities = root.openDB<Identity, string>({ name: 'identity', encoding: 'json' });
    const own = root.openDB<Position, string>({ name: OWN, encoding: 'json' });
    const identity = identities.get('engine');
    assert(identity !== undefined, 'a file that is open has an identity');
    const tables = tableNames(metadata).map((name) => root.openDB({ name, encoding: 'binary' }));
    await metadata.atomically({ entries: 2, bytes: 1024 }, () => {
      for (const table of tables) void table.clearAsync();
      void identities.put('engine', { ...identity, keyCheck: cipher.check(identity.clusterId) });
      void own.put('position', { cluster, sequence: 0, isLeading: true });
    });
  }

  get sequence(): number {
    return this.#position.sequence;
  }

  /** Whether the tables hold what a single engine has stored in them. */
  get isOwn(): boolean {
    return this.#own.get('position') === undefined && this.#hasDefinitions();
  }

  /**
   * Makes the copy one that the log can be applied to from `sequence` on. Throws `InvalidRequest`
   * rather than dropping what a single engine, or one of another cluster, has stored.
   */
  async prepare(log: MessageLog): Promise<void> {
    const { first, last } = await log.ends();
    const isOther = this.#position.cluster !== this.#cluster;
    if (last > 0 && (this.isOwn || (isOther && this.#hasDefinitions()))) {
      throw new InvalidRequest(
        `the data directory has definitions of its own, and cluster ${JSON.stringify(this.#cluster)} has others: start this instance with an empty data_dir, and define there what is missing`,
      );
    }
    const { sequence, isLeading } = this.#position;
    const isGap = sequence + 1 < first || sequence > last;
    if (last > 0 && (isLeading || isGap || isOther)) await this.#replaceAll([], 0);
  }

  /** Applies the log to its present end; resolves with the number of the last record there. */
  async catchUp(log: MessageLog, signal: AbortSignal): Promise<number> {
    await this.prepare(log);
    const { last } = await log.ends();
    const first = this.sequence + 1;
    if (first <= last)
      for await (const record of log.read({ first, through: last, signal }))
        await this.apply(record);
    return last;
  }

  /**
   * Applies the next record; those that are in already are left out. Throws `TooOld` for one that
   * this version does not know.
   */
  async apply({ sequence, label, level, bytes }: LogRecord): Promise<void> {
    if (sequence <= this.#position.sequence) return;
    const { decode } = formatAt(level, this.#build);
    switch (label) {
      case RecordLabel.Begin:
        this.#whole = [];
        return;
      case RecordLabel.Part:
        for (const change of decode(bytes)) this.#whole?.push(change);
        return;
      case RecordLabel.End:
        if (this.#whole !== undefined) await this.#replaceAll(this.#whole, sequence);
        this.#whole = undefined;
        return;
      case RecordLabel.Changes:
        // A leader that was fenced while it wrote everything has not ended it.
        this.#whole = undefined;
        await this.#change(decode(bytes), sequence);
        return;
      case RecordLabel.Term:
        this.#whole = undefined;
        await this.#change([], sequence);
        return;
      default:
        throw new TooOld(`the shared log has a record ${JSON.stringify(label)}`, this.#build);
    }
  }

  /** From now on the tables are changed by a leader, and the log follows them. */
  async lead(): Promise<void> {
    await this.#put({ ...this.#position, cluster: this.#cluster, isLeading: true });
  }

  close(): Promise<void> {
    return this.metadata.close();
  }

  #hasDefinitions(): boolean {
    return DEFINITIONS.some((name) => this.#table(name).getKeysCount() > 0);
  }

  async #change(changes: readonly StoreChange[], sequence: number): Promise<void> {
    const bytes = changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    // To open one is a transaction of its own.
    for (const { table } of changes) this.#table(table);
    await this.metadata.atomically({ entries: changes.length + 1, bytes }, () => {
      for (const { table, key, value } of changes) {
        if (value === undefined) void this.#table(table).remove(key);
        else void this.#table(table).put(key, Buffer.from(value));
      }
      this.#position = { cluster: this.#cluster, sequence, isLeading: false };
      void this.#own.put('position', this.#position);
    });
  }

  /** Replaces all tables by these entries. */
  async #replaceAll(entries: readonly StoreChange[], sequence: number): Promise<void> {
    const removed: StoreChange[] = [];
    for (const name of tableNames(this.metadata)) {
      for (const key of this.#table(name).getKeys())
        removed.push({ table: name, key, value: undefined });
    }
    await this.#change([...removed, ...entries], sequence);
  }

  async #put(position: Position): Promise<void> {
    this.#position = position;
    await this.metadata.write({ entries: 1, bytes: 100 }, () =>
      this.#own.put('position', position),
    );
  }

  #table(name: string): Database<Buffer, StoreKey> {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = this.metadata.root.openDB<Buffer, StoreKey>({ name, encoding: 'binary' });
      this.#tables.set(name, table);
    }
    return table;
  }
}

/** Everything that is stored and shared, in pieces of about so many bytes. */
export function* wholeStore(
  metadata: Metadata,
  pieceBytes: number,
): Iterable<readonly StoreChange[]> {
  let piece: StoreChange[] = [];
  let sizeBytes = 0;
  for (const name of tableNames(metadata)) {
    const table = metadata.root.openDB<Buffer, StoreKey>({ name, encoding: 'binary' });
    for (const { key, value } of table.getRange()) {
      piece.push({ table: name, key, value: Buffer.from(value) });
      sizeBytes += value.length + ENTRY_BYTES;
      if (sizeBytes < pieceBytes) continue;
      yield piece;
      piece = [];
      sizeBytes = 0;
    }
  }
  if (piece.length > 0) yield piece;
}

/** Of an entry besides its value, about. */
const ENTRY_BYTES = 100;

/** Names of the tables that are shared. The file's own table lists all of them. */
function tableNames({ root }: Metadata): readonly string[] {
  return [...root.getKeys()].map(String).filter((name) => !LOCAL_TABLES.has(name));
}
