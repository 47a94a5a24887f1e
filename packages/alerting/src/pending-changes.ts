// Changes of the store that must not be lost: states of events that have happened, and pending
// deliveries. They are written in one transaction after another; changes that arrive during one go
// into the next. Changes that cannot be written, for example because the disk is full, stay here
// and are part of every transaction until one succeeds.
import type { Clock } from '@tidemark/core';
import { messageOf } from '@tidemark/core';
import type { EntryKey, EntryTable } from './alert-entries.ts';
import type { AlertLog } from './attached-handlers.ts';
import { STORE_RETRY_DELAY, UNSTORED_BYTES } from './limits.ts';

/** One entry that is put, or removed when it has no value. */
export type EntryChange<K extends EntryKey = EntryKey> = {
  readonly table: EntryTable<K>;
  readonly key: K;
  readonly value: Buffer | undefined;
  /** Called when it is on disk. */
  readonly onStored?: (() => void) | undefined;
};

export type PendingChangesOptions = {
  /**
   * Makes changes in one transaction; rejects when it could not be written: then none of them is
   * made.
   */
  readonly commit: (changes: readonly EntryChange[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: AlertLog;
};

/** Memory of a change besides its value. */
const CHANGE_BYTES = 256;

export class PendingChanges {
  readonly #options: PendingChangesOptions;
  /** Changes since the last transaction began, oldest first. */
  #fresh: EntryChange[] = [];
  /** Changes of transactions that failed: the newest one of each entry. */
  readonly #failed = new Map<string, EntryChange>();
  #failedBytes = 0;
  /** The transaction that will take the new changes, and the last one that has not ended. */
  #next: Promise<void> | undefined;
  #last: Promise<void> | undefined;
  /** Resolves when all transactions have ended, in any way. */
  #ended: Promise<void> = Promise.resolve();
  #retry: AbortController | undefined;
  #isClosed = false;

  constructor(options: PendingChangesOptions) {
    this.#options = options;
  }

  /**
   * Takes changes that belong together. The promise, which the changes of one transaction share,
   * rejects when they could not be written at once; they are still retried, unless too many wait
   * already.
   */
  keep(changes: readonly EntryChange[]): Promise<void> {
    for (const change of changes) this.#fresh.push(change);
    return this.#attempt();
  }

  /**
   * Resolves when everything taken so far is on disk, rejects on failure; `undefined` when it is
   * already.
   */
  get stored(): Promise<void> | undefined {
    return this.#fresh.length > 0 || this.#failed.size > 0 ? this.#attempt() : this.#last;
  }

  /** Newest changes of a table's entries that could not be written; none while the disk works. */
  *failed<K extends EntryKey>(table: EntryTable<K>): Iterable<EntryChange<K>> {
    for (const change of this.#failed.values()) {
      // Changes of the same table have the same keys.
      if (change.table.name === table.name) yield change as unknown as EntryChange<K>;
    }
  }

  /**
   * Runs a change that its caller awaits and that is not retried. Everything taken before is on
   * disk then, or among the failed changes; no transaction is in progress.
   */
  between(change: () => Promise<void>): Promise<void> {
    // Its failure is reported to the owners of its changes.
    this.stored?.catch(() => undefined);
    return this.#follow(change);
  }

  /** Drops failed changes of a table's entries that no longer exist. */
  forget<K extends EntryKey>(table: EntryTable<K>, isGone: (key: K) => boolean): void {
    for (const { key } of this.failed(table)) if (isGone(key)) this.#drop(idOf(table.name, key));
  }

  /** Tries a last time to write waiting changes. Rejects when that fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.abort();
    await this.stored;
  }

  #attempt(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const attempt = this.#follow(() => {
      this.#next = undefined;
      return this.#write();
    });
    this.#next = attempt;
    this.#last = attempt;
    const end = (): void => {
      if (this.#last === attempt) this.#last = undefined;
    };
    attempt.then(end, end);
    return attempt;
  }

  #follow(step: () => Promise<void>): Promise<void> {
    const done = this.#ended.then(step);
    this.#ended = done.catch(() => undefined);
    return done;
  }

  async #write(): Promise<void> {
    const fresh = this.#fresh;
    this.#fresh = [];
    const changes = this.#failed.size === 0 ? fresh : [...this.#failed.values(), ...fresh];
    if (changes.length === 0) return;
    try {
      await this.#options.commit(changes);
    } catch (error) {
      this.#keepFailed(fresh, error);
      throw error;
    }
    if (this.#failed.size > 0) this.#recover();
    for (const { onStored } of changes) onStored?.();
  }

  #keepFailed(fresh: readonly EntryChange[], error: unknown): void {
    const { log } = this.#options;
    const err = messageOf(error);
    if (this.#failed.size === 0) log('error', 'failed to store events; will be retried', { err });
    // Over the limit, removals are still recorded, or the entries would be delivered again.
    const isFull = this.#failedBytes > UNSTORED_BYTES.value;
    const lostCount = isFull ? fresh.filter(({ value }) => value !== undefined).length : 0;
    if (lostCount > 0) log('error', 'failed to keep events in memory', { err, count: lostCount });
    for (const change of fresh) {
      const { table, key, value } = change;
      const id = idOf(table.name, key);
      this.#drop(id);
      // A value that was never on disk needs no removal.
      const isNeeded = value === undefined ? table.has(key) : !isFull;
      if (!isNeeded) continue;
      this.#failed.set(id, change);
      this.#failedBytes += bytesOf(change);
    }
    this.#tryLater();
  }

  #drop(id: string): void {
    const change = this.#failed.get(id);
    if (change === undefined) return;
    this.#failed.delete(id);
    this.#failedBytes -= bytesOf(change);
  }

  #recover(): void {
    this.#options.log('info', 'events are stored again', { count: this.#failed.size });
    this.#failed.clear();
    this.#failedBytes = 0;
    this.#retry?.abort();
    this.#retry = undefined;
  }

  // Writes retry too, but there may be none.
  #tryLater(): void {
    if (this.#retry !== undefined || this.#isClosed) return;
    const retry = new AbortController();
    this.#retry = retry;
    this.#options.clock.sleep(STORE_RETRY_DELAY.value, retry.signal).then(
      () => {
        this.#retry = undefined;
        // A failure begins the next wait.
        this.stored?.catch(() => undefined);
      },
      // No longer needed.
      () => undefined,
    );
  }
}

function idOf(table: string, key: EntryKey): string {
  return `${table} ${JSON.stringify(key)}`;
}

function bytesOf({ value }: EntryChange): number {
  return (value?.length ?? 0) + CHANGE_BYTES;
}
