// The history of alerts on disk: changes since the last write are stored as one entry. A crash
// loses the last seconds of it, which were never acknowledged.
import { assert, messageOf } from '@tidemark/core';
import type { AlertHistory, LevelChange } from '@tidemark/alerting';
import { HISTORY_LENGTH } from '@tidemark/alerting';
import type { Logger } from '../observability/log-hub.ts';
import type { Metadata } from './metadata.ts';
import type { Table } from './table.ts';

type StoredChange = Omit<LevelChange, 'time' | 'durationNanos'> & {
  readonly time: string;
  readonly duration: string;
};

/** Changes that were added between two writes. */
type Entry = { readonly changes: readonly StoredChange[] };

/** Enough digits for the number of any entry, so that keys sort by it. */
const KEY_DIGITS = 16;

export class StoredHistory {
  readonly #history: AlertHistory;
  readonly #table: Table<Entry>;
  readonly #log: Logger;
  /** Entries on disk, oldest first, with their numbers of changes. */
  #entries: { readonly number: number; readonly count: number }[] = [];

  constructor(history: AlertHistory, metadata: Metadata, log: Logger) {
    this.#history = history;
    this.#table = metadata.table<Entry>('alert-history');
    this.#log = log;
  }

  load(): void {
    const changes: LevelChange[] = [];
    for (const [number, stored] of this.#stored()) {
      this.#entries.push({ number, count: stored.length });
      for (const { time, duration, ...rest } of stored) {
        changes.push({ ...rest, time: BigInt(time), durationNanos: BigInt(duration) });
      }
    }
    this.#history.load(changes);
  }

  /** Writes new changes; those that cannot be written are logged, and gone after a restart. */
  async save(): Promise<void> {
    const added = this.#history.takeNew();
    if (added.length === 0) return;
    const number = (this.#entries.at(-1)?.number ?? 0) + 1;
    const changes = added.map(({ time, durationNanos, ...rest }) => ({
      ...rest,
      time: String(time),
      duration: String(durationNanos),
    }));
    try {
      const old = this.#outdated(added.length);
      await this.#table.change([
        { id: keyOf(number), value: { changes } },
        ...old.map((entry) => ({ id: keyOf(entry.number), value: undefined })),
      ]);
      this.#entries = [...this.#entries.slice(old.length), { number, count: added.length }];
    } catch (error) {
      this.#log('error', 'failed to store the history of alerts', { err: messageOf(error) });
    }
  }

  /** Entries that are no longer needed after `addedCount` more changes. */
  #outdated(addedCount: number): readonly { readonly number: number }[] {
    let count = this.#entries.reduce((sum, entry) => sum + entry.count, addedCount);
    const old: { readonly number: number }[] = [];
    for (const entry of this.#entries) {
      if (count - entry.count < HISTORY_LENGTH.value) break;
      count -= entry.count;
      old.push(entry);
    }
    return old;
  }

  *#stored(): Iterable<readonly [number, readonly StoredChange[]]> {
    for (const [id, { changes }] of this.#table.entries()) {
      const number = Number(id);
      assert(Number.isSafeInteger(number), 'entries of the history are numbered');
      yield [number, changes];
    }
  }
}

function keyOf(number: number): string {
  return String(number).padStart(KEY_DIGITS, '0');
}
