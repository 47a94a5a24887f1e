// What the leader stores, as the log that all others follow. Only one instance at a time can write
// it: each record is written behind the last one that this leader knows, and the coordinator
// refuses it when another leader has begun.
import { assert, messageOf, Unavailable } from '@tidemark/core';
import { Superseded } from '@tidemark/cluster';
import type { MemberThread, MessageLog } from '@tidemark/cluster';
import { CHANGES_LOG } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { ChangeSink, StoreChange } from '../store/change-feed.ts';
import type { Metadata } from '../store/metadata.ts';
import { formatAt } from './build.ts';
import type { Build } from './build.ts';
import { RecordLabel } from './change-record.ts';
import { wholeStore } from './replica.ts';

export type LeaderLogOptions = {
  readonly log: MessageLog;
  readonly membership: Pick<MemberThread, 'isLeading' | 'problem' | 'level'>;
  readonly build: Build;
  /** Ends with this leader's term. */
  readonly signal: AbortSignal;
  /** Another instance writes the log. */
  readonly onSuperseded: () => void;
};

export class LeaderLog implements ChangeSink {
  readonly #options: LeaderLogOptions;
  #last: number;
  #metadata: Metadata | undefined;
  #working: Promise<unknown> = Promise.resolve();
  /** Of the log since everything was written to it. */
  #bytes = 0;

  private constructor(options: LeaderLogOptions, last: number) {
    this.#options = options;
    this.#last = last;
  }

  /**
   * Begins a term behind the record `last`. Throws `Superseded` when the log has gone on meanwhile.
   */
  static async begin(options: LeaderLogOptions, last: number): Promise<LeaderLog> {
    const { log, signal } = options;
    const label = RecordLabel.Term;
    const sequence = await log.append(new Uint8Array(0), { label, after: last, signal });
    return new LeaderLog(options, sequence);
  }

  /** Number of the last record. */
  get last(): number {
    return this.#last;
  }

  check(): void {
    const { membership, signal } = this.#options;
    if (signal.aborted || !membership.isLeading)
      throw new Unavailable('this instance does not lead the cluster any more');
    if (membership.problem !== undefined)
      throw new Unavailable(
        `nothing can be stored until the coordinator of the cluster answers: ${membership.problem}`,
      );
  }

  append(changes: readonly StoreChange[]): Promise<void> {
    return this.#next(() => this.#appendChanges(RecordLabel.Changes, changes));
  }

  /** Begins the log with what this instance has stored, when nothing was in it before this term. */
  async begun(metadata: Metadata, log: Logger): Promise<void> {
    this.#bytes = (await this.#options.log.ends()).bytes;
    if (this.#last > 1) return;
    await this.#next(() => this.#writeWhole(metadata));
    log('info', 'the cluster begins with what this instance has stored', {});
  }

  opened(metadata: Metadata): void {
    this.#metadata = metadata;
  }

  /** Writes everything when the log has become long. Called now and then. */
  async compact(log: Logger): Promise<void> {
    const metadata = this.#metadata;
    if (metadata === undefined || this.#bytes < CHANGES_LOG.value) return;
    try {
      await this.#next(() => this.#writeWhole(metadata));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      // The log stays as long as it is until the next time.
      log('warn', 'failed to shorten the shared log', { err: messageOf(error) });
    }
  }

  async #writeWhole(metadata: Metadata): Promise<void> {
    const { log } = this.#options;
    const before = this.#last;
    this.#bytes = 0;
    await this.#append(RecordLabel.Begin, new Uint8Array(0));
    const first = this.#last;
    assert(first > before, 'records have rising numbers');
    for (const piece of wholeStore(metadata, log.bytesMax / 2))
      await this.#appendChanges(RecordLabel.Part, piece);
    await this.#append(RecordLabel.End, new Uint8Array(0));
    await log.purge(first);
  }

  #appendChanges(label: string, changes: readonly StoreChange[]): Promise<void> {
    const { membership, build } = this.#options;
    const { level } = membership;
    return this.#append(label, formatAt(level, build).encode(changes), level);
  }

  async #append(label: string, bytes: Uint8Array, level?: number): Promise<void> {
    const { log, signal, onSuperseded } = this.#options;
    try {
      this.#last = await log.append(bytes, { label, level, after: this.#last, signal });
      this.#bytes += bytes.length;
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      onSuperseded();
      throw new Unavailable('this instance does not lead the cluster any more', { cause: error });
    }
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#working.then(work);
    this.#working = next.catch(() => undefined);
    return next;
  }
}
