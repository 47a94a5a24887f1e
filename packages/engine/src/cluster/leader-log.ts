// The leader's exclusive right to append to the shared log. Each commit of its engine is appended
// first and then applied to its copy with its position in the log, as on every other copy. Each
// append expects the last record that this leader knows, so the coordinator refuses it once another
// leader has begun.
import { randomUUID } from 'node:crypto';
import { assert, messageOf, Unavailable } from '@tidemark/core';
import { Superseded } from '@tidemark/cluster';
import type { MemberThread, SharedLog } from '@tidemark/cluster';
import { CHANGES_LOG } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { CommitLog } from '../store/metadata.ts';
import type { StoreChange } from '../store/tables.ts';
import { formatAt } from '../shared-log/build.ts';
import type { Build } from '../shared-log/build.ts';
import { RecordLabel } from '../shared-log/change-record.ts';
import type { Replica } from './replica.ts';

export type LeaderLogOptions = {
  readonly log: SharedLog;
  /** The copy, which is at the end of the log. */
  readonly replica: Replica;
  readonly membership: Pick<MemberThread, 'isLeading' | 'problem' | 'level'>;
  readonly build: Build;
  /** Aborted with this leader's term. */
  readonly signal: AbortSignal;
  /** It cannot continue: another instance writes the log, or the copy cannot apply its records. */
  readonly onLost: (reason: Error) => void;
};

/** Another instance writes the log. */
export const TAKEN_OVER = new Error('another instance leads');

type Write = (changes: readonly StoreChange[]) => Promise<void>;
type Appended = { readonly sequence: number; readonly label: string; readonly bytes: Uint8Array };
type Waiting = {
  readonly changes: readonly StoreChange[];
  readonly write: Write;
  readonly sizeBytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

export class LeaderLog implements CommitLog {
  readonly #options: LeaderLogOptions;
  #last: number;
  /** Commits that wait for the next record. */
  #waiting: Waiting[] = [];
  #appending: Promise<unknown> = Promise.resolve();
  /** Resolves when every record that was appended is in the copy, or could not be. */
  #applying: Promise<void> = Promise.resolve();
  #failure: unknown;
  /** Size of the log since it last began with the complete content. */
  #bytes = 0;

  private constructor(options: LeaderLogOptions, last: number) {
    this.#options = options;
    this.#last = last;
  }

  /**
   * Begins a term after the last record of the copy. Throws `Superseded` when the log has grown
   * meanwhile. If the log has no contents yet, it is filled from the copy.
   */
  static async begin(options: LeaderLogOptions, last: number, log: Logger): Promise<LeaderLog> {
    const { replica } = options;
    const { bytes: logBytes } = await options.log.ends();
    const label = RecordLabel.Term;
    // A name of its own: another term with the same number is another history.
    const bytes = Buffer.from(randomUUID());
    const { signal } = options;
    const sequence = await options.log.append(bytes, { label, after: last, signal });
    const leader = new LeaderLog(options, sequence);
    leader.#bytes = logBytes;
    const record = { sequence, label, bytes };
    if (replica.isFilled) {
      await replica.metadata.write(replica.withPosition([], record));
      replica.applied(record);
    } else {
      await leader.#writeWhole();
      log('info', 'the cluster begins with the data of this instance', {});
    }
    return leader;
  }

  /** Number of the last record. */
  get last(): number {
    return this.#last;
  }

  check(): void {
    const { membership, signal } = this.#options;
    if (signal.aborted || !membership.isLeading || this.#failure !== undefined)
      throw new Unavailable('this instance does not lead the cluster any more');
    if (membership.problem !== undefined)
      throw new Unavailable(
        `nothing can be stored until the coordinator of the cluster answers: ${membership.problem}`,
      );
  }

  /** Commits that arrive while a record is being appended go into the next one. */
  commit(changes: readonly StoreChange[], write: Write): Promise<void> {
    return new Promise((resolve, reject) => {
      const sizeBytes = sizeOf(changes);
      this.#waiting.push({ changes, write, sizeBytes, resolve, reject });
      if (this.#waiting.length === 1) void this.#next(() => this.#commitWaiting());
    });
  }

  /** Resolves when nothing is in progress. */
  async settled(): Promise<void> {
    await this.#appending;
    await this.#applying;
  }

  /**
   * Appends the complete content of the tables when the log has become long. Called periodically.
   */
  async compact(log: Logger): Promise<void> {
    if (this.#bytes < CHANGES_LOG.value) return;
    try {
      await this.#next(() => this.#writeWhole());
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      // The log stays long until the next attempt.
      log('warn', 'failed to shorten the shared log', { err: messageOf(error) });
    }
  }

  async #commitWaiting(): Promise<void> {
    const group = this.#takeGroup();
    if (this.#waiting.length > 0) void this.#next(() => this.#commitWaiting());
    const changes = group.flatMap((each) => each.changes);
    try {
      if (this.#failure !== undefined || this.#options.signal.aborted) this.check();
      const record = await this.#appendChanges(RecordLabel.Changes, changes);
      this.#applying = this.#applying.then(() => this.#apply(group, changes, record));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** Takes as many commits as fit one message; one that does not fit is taken alone. */
  #takeGroup(): readonly Waiting[] {
    const { bytesMax } = this.#options.log;
    let sizeBytes = 0;
    let count = 0;
    for (const each of this.#waiting) {
      sizeBytes += each.sizeBytes;
      if (count > 0 && sizeBytes > bytesMax) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** Applies changes that are in the log; never rejects. */
  async #apply(
    group: readonly Waiting[],
    changes: readonly StoreChange[],
    record: Appended,
  ): Promise<void> {
    const { replica, onLost } = this.#options;
    const [first] = group;
    try {
      // Records after one that could not be applied are applied when the log is read again.
      if (this.#failure !== undefined) throw this.#failure;
      await first?.write(replica.withPosition(changes, record));
      replica.applied(record);
      for (const { resolve } of group) resolve();
    } catch (error) {
      this.#failure ??= error;
      onLost(new Error(`its copy refuses a record of the log: ${messageOf(error)}`));
      for (const { reject } of group) reject(error);
    }
  }

  async #writeWhole(): Promise<void> {
    const { log, replica } = this.#options;
    const { metadata } = replica;
    await this.#applying;
    const before = this.#last;
    this.#bytes = 0;
    await this.#append(RecordLabel.Begin, new Uint8Array(0), undefined);
    const first = this.#last;
    assert(first > before, 'records have rising numbers');
    for (const piece of pieces(metadata.shared(), log.bytesMax / 2))
      await this.#appendChanges(RecordLabel.Part, piece);
    const end = await this.#append(RecordLabel.End, new Uint8Array(0), undefined);
    await metadata.write(replica.withPosition([], end));
    replica.applied(end);
    await log.purge(first);
  }

  #appendChanges(label: string, changes: readonly StoreChange[]): Promise<Appended> {
    const { membership, build } = this.#options;
    const { level } = membership;
    return this.#append(label, formatAt(level, build).encode(changes), level);
  }

  async #append(label: string, bytes: Uint8Array, level: number | undefined): Promise<Appended> {
    const { log, signal, onLost } = this.#options;
    try {
      this.#last = await log.append(bytes, { label, level, after: this.#last, signal });
      this.#bytes += bytes.length;
      return { sequence: this.#last, label, bytes };
    } catch (error) {
      if (error instanceof Superseded) {
        onLost(TAKEN_OVER);
        throw new Unavailable('this instance does not lead the cluster any more', { cause: error });
      }
      if (!signal.aborted) throw error;
      throw new Unavailable(
        'this instance has lost the lead before the coordinator answered: the change may have been made or not; check before you repeat it',
        { cause: error },
      );
    }
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#appending.then(work);
    this.#appending = next.catch(() => undefined);
    return next;
  }
}

/** Approximate size of an entry without its value. */
const ENTRY_BYTES = 100;

function sizeOf(changes: readonly StoreChange[]): number {
  return changes.reduce((sum, { value }) => sum + (value?.length ?? 0) + ENTRY_BYTES, 0);
}

/** Entries in pieces of about `pieceBytes`. */
function* pieces(
  entries: Iterable<StoreChange>,
  pieceBytes: number,
): Iterable<readonly StoreChange[]> {
  let piece: StoreChange[] = [];
  let sizeBytes = 0;
  for (const entry of entries) {
    piece.push(entry);
    sizeBytes += sizeOf([entry]);
    if (sizeBytes < pieceBytes) continue;
    yield piece;
    piece = [];
    sizeBytes = 0;
  }
  if (piece.length > 0) yield piece;
}
