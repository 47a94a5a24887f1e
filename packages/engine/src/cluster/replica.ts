// The copy of the metadata of an instance, kept up to date from the shared log, whichever instance
// leads. It stores which log it follows and its position there. It is filled from the complete
// content in one transaction, and does not change before that.
import { createHash } from 'node:crypto';
import { assert, Conflict, InvalidRequest, Unavailable } from '@tidemark/core';
import type { AppError } from '@tidemark/core';
import type { LogRecord, SharedLog } from '@tidemark/cluster';
import { identityChange, Metadata } from '../store/metadata.ts';
import type { CommitLog, KeyOptions } from '../store/metadata.ts';
import type { Identity } from '../store/metadata-file.ts';
import { readKey } from '../store/store-cipher.ts';
import type { StoreChange } from '../store/tables.ts';
import { formatAt, TooOld } from '../shared-log/build.ts';
import type { Build } from '../shared-log/build.ts';
import { RecordLabel } from '../shared-log/change-record.ts';

/** The one entry of the table `replica`. */
type Position = {
  readonly cluster: string;
  /** Id of the log; absent in copies from before logs had one. */
  readonly log?: string | undefined;
  /** Number of the last record that is in the tables. */
  readonly sequence: number;
  /** Digest of that record, which differs in another history. */
  readonly digest?: string | undefined;
  /**
   * Set by a version that wrote the tables of a leader first: they may have contents that the log
   * lacks.
   */
  readonly isLeading?: boolean | undefined;
};

const OWN = 'replica';
const POSITION = 'position';

export type ReplicaOptions = {
  readonly directory: string;
  readonly cluster: string;
  readonly key: KeyOptions;
  readonly build: Build;
  /** Keeps contents that the log lacks, before the tables are filled from it. */
  readonly setAside: (metadata: Metadata) => Promise<void>;
  /** Id of the instance whose definitions the log begins with, if there are any. */
  readonly begins?: (() => string | undefined) | undefined;
};

/** The log and the copy have different histories: an operator has to decide which one is right. */
export class HistoryMismatch extends Conflict {}

/** Only the leader changes the copy. */
const FOLLOWING: CommitLog = {
  check: () => {
    throw new Unavailable('this instance does not lead the cluster');
  },
  commit: () => Promise.reject(new Unavailable('this instance does not lead the cluster')),
};

export class Replica {
  readonly metadata: Metadata;
  readonly #options: Omit<ReplicaOptions, 'directory' | 'key'>;
  #position: Position | undefined;
  #log = '';
  /** The last record that was read. */
  #sequence = 0;
  /** The tables have the contents of the log at `#sequence`. */
  #isFilled = false;
  /** Pieces of the complete content, until its end. */
  #whole: StoreChange[] | undefined;

  private constructor(metadata: Metadata, options: Omit<ReplicaOptions, 'directory' | 'key'>) {
    this.metadata = metadata.through(FOLLOWING);
    this.#options = options;
    this.#position = readPosition(metadata);
  }

  static async open({ directory, key, ...rest }: ReplicaOptions): Promise<Replica> {
    return new Replica(await Metadata.open(directory, key), rest);
  }

  /**
   * Turns the metadata of a single engine into an empty copy of a cluster, which is filled when it
   * is opened. It keeps the name of its instance.
   */
  static async adopt(
    metadata: Metadata,
    { cluster, key, directory }: Pick<ReplicaOptions, 'cluster' | 'key' | 'directory'>,
  ): Promise<void> {
    const cipher = readKey({ ...key, directory, isNeeded: true });
    const stored = metadata.read('identity').get('engine');
    assert(stored !== undefined, 'a file that is open has an identity');
    const identity = JSON.parse(stored.toString('utf8')) as Identity;
    await metadata.write([
      ...metadata.removals(),
      identityChange({ ...identity, keyCheck: cipher.check(identity.clusterId) }),
      positionChange({ cluster, sequence: 0 }),
    ]);
  }

  /**
   * Turns a copy of a cluster into the metadata of a single engine, with which a cluster can begin;
   * resolves with the number of its last record.
   */
  static async release(metadata: Metadata): Promise<number> {
    const position = readPosition(metadata);
    if (position === undefined)
      throw new InvalidRequest('the directory is not that of an instance of a cluster');
    if (position.sequence === 0)
      throw new InvalidRequest('the instance has not received anything of its cluster yet');
    await metadata.write([{ table: OWN, key: POSITION, value: undefined }]);
    return position.sequence;
  }

  /** Number of the last record that is known. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Whether the tables have the contents of the log; if not, the log has not had them yet. */
  get isFilled(): boolean {
    return this.#isFilled;
  }

  /** Whether the tables have the contents of a single engine. */
  get isOwn(): boolean {
    return this.#position === undefined && this.hasEntries;
  }

  get hasEntries(): boolean {
    for (const _ of this.metadata.removals()) return true;
    return false;
  }

  /**
   * Finds the position to continue from in a log of this id. Throws `HistoryMismatch` when the copy
   * is of another one.
   */
  async prepare(log: SharedLog, id: string): Promise<void> {
    const { first, last } = await log.ends();
    this.#log = id;
    this.#whole = undefined;
    const position = this.#position;
    this.#isFilled = false;
    this.#sequence = Math.max(0, first - 1);
    if (position === undefined || position.sequence === 0) return;
    const { cluster } = this.#options;
    if (position.cluster !== cluster)
      throw new HistoryMismatch(
        `the data directory is of cluster ${JSON.stringify(position.cluster)}, and not of ${JSON.stringify(cluster)}`,
      );
    if (position.log !== undefined && position.log !== id)
      throw new HistoryMismatch(
        `the coordinator has another log than this copy follows (${id}, not ${position.log}): it may have lost its disk`,
      );
    if (position.isLeading === true) return;
    if (position.sequence > last) {
      // The others learn it: one that was away, and has less, must not lead either.
      this.#sequence = position.sequence;
      throw new HistoryMismatch(
        `this copy has come to record ${position.sequence}, and the log ends with ${last}: the coordinator has lost records`,
      );
    }
    // Before the beginning of the log: filled from the complete content there.
    if (position.sequence + 1 < first) return;
    if (position.digest !== undefined && position.sequence >= first)
      await this.#compare(log, position.digest, position.sequence);
    this.#isFilled = true;
    this.#sequence = position.sequence;
  }

  /**
   * Whether a log has the record that this copy, which follows the log of this id, applied last.
   */
  async isIn(log: SharedLog, id: string): Promise<boolean> {
    const { sequence = 0, digest, log: own } = this.#position ?? {};
    const { first, last } = await log.ends();
    if (own !== id || digest === undefined || sequence < first || sequence > last) return false;
    const range = { first: sequence, through: sequence, signal: new AbortController().signal };
    for await (const record of log.read(range))
      if (record.sequence === sequence) return digestOf(record) === digest;
    return false;
  }

  /** Throws `HistoryMismatch` when a record is not the one that was applied. */
  async #compare(log: SharedLog, digest: string, sequence: number): Promise<void> {
    const range = { first: sequence, through: sequence, signal: new AbortController().signal };
    // A record of several messages does not begin here, and is not read.
    for await (const record of log.read(range))
      if (digestOf(record) !== digest)
        throw new HistoryMismatch(
          `record ${sequence} of the shared log is not the one that this copy has applied: the coordinator has lost records, and others have taken their numbers`,
        );
  }

  /** Applies the log up to its present end; resolves with the number of the last record. */
  async applyToEnd(log: SharedLog, id: string, signal: AbortSignal): Promise<number> {
    await this.prepare(log, id);
    const { last } = await log.ends();
    const first = this.sequence + 1;
    if (first <= last)
      for await (const record of log.read({ first, through: last, signal }))
        await this.apply(record);
    return last;
  }

  /**
   * Applies the next record; skips those that have been applied. Throws `TooOld` for one that this
   * version does not support, and `InvalidRequest` rather than dropping what a single engine has
   * stored.
   */
  async apply(record: LogRecord): Promise<void> {
    const { sequence, label, level, bytes } = record;
    if (sequence <= this.#sequence) return;
    const { decode } = formatAt(level, this.#options.build);
    switch (label) {
      case RecordLabel.Begin:
        this.#whole = [];
        return;
      case RecordLabel.Part:
        for (const change of decode(bytes)) this.#whole?.push(change);
        return;
      case RecordLabel.End:
        if (this.#whole !== undefined) await this.#fill(this.#whole, record);
        this.#whole = undefined;
        return;
      case RecordLabel.Changes:
        // A leader that lost its term while it wrote the complete content has not completed it.
        this.#whole = undefined;
        // A log that begins with changes, as in earlier versions, began empty.
        if (this.#isFilled) await this.#write(decode(bytes), record);
        else await this.#fill(decode(bytes), record);
        return;
      case RecordLabel.Term:
        this.#whole = undefined;
        if (this.#isFilled) await this.#write([], record);
        else this.#sequence = sequence;
        return;
      default:
        throw new TooOld(
          `the shared log has a record ${JSON.stringify(label)}`,
          this.#options.build,
        );
    }
  }

  /**
   * The changes of a record and the copy's new position, for one transaction. `applied` is called
   * once it is stored.
   */
  withPosition(
    changes: readonly StoreChange[],
    record: Pick<LogRecord, 'sequence' | 'label' | 'bytes'>,
  ): readonly StoreChange[] {
    return [...changes, positionChange(this.#positionAt(record))];
  }

  applied(record: Pick<LogRecord, 'sequence' | 'label' | 'bytes'>): void {
    this.#position = this.#positionAt(record);
    this.#sequence = record.sequence;
    this.#isFilled = true;
  }

  close(): Promise<void> {
    return this.metadata.close();
  }

  #positionAt(record: Pick<LogRecord, 'sequence' | 'label' | 'bytes'>): Position {
    const { sequence } = record;
    return { cluster: this.#options.cluster, log: this.#log, sequence, digest: digestOf(record) };
  }

  async #write(changes: readonly StoreChange[], record: LogRecord): Promise<void> {
    await this.metadata.write(this.withPosition(changes, record));
    this.applied(record);
  }

  /** Replaces all tables by these entries. */
  async #fill(entries: readonly StoreChange[], record: LogRecord): Promise<void> {
    const { cluster, setAside, begins } = this.#options;
    // The process may have ended after the log had its definitions and before the copy recorded
    // that.
    const hasBegun = begins?.() === this.metadata.serverId;
    if (this.isOwn && !hasBegun) throw new InvalidRequest(ownDefinitions(cluster));
    const isOfLog = this.#position?.isLeading !== true && (this.#position?.sequence ?? 0) > 0;
    if (!isOfLog && this.hasEntries) await setAside(this.metadata);
    await this.#write([...this.metadata.removals(), ...entries], record);
  }
}

export function ownDefinitions(cluster: string): string {
  return `the data directory has definitions of its own, and cluster ${JSON.stringify(cluster)} has others: start this instance with an empty data_dir, and define there what is missing`;
}

function readPosition(metadata: Metadata): Position | undefined {
  const stored = metadata.read(OWN).get(POSITION);
  return stored === undefined ? undefined : (JSON.parse(stored.toString('utf8')) as Position);
}

function positionChange(position: Position): StoreChange {
  return { table: OWN, key: POSITION, value: Buffer.from(JSON.stringify(position)) };
}

function digestOf({ label, bytes }: Pick<LogRecord, 'label' | 'bytes'>): string {
  return createHash('sha256').update(`${label}\n`).update(bytes).digest('hex');
}

/** Whether an operator has to act before an instance can follow the log. */
export function isStuck(error: unknown): error is AppError {
  return error instanceof TooOld || error instanceof HistoryMismatch;
}
