// The part of the log of points that an instance keeps while it runs tasks for the leader: the
// leader refers to records by number until it releases them.
import { assert, deferred, Unavailable } from '@tidemark/core';
import type { Clock, Deferred } from '@tidemark/core';
import type { LogRecord, SharedLog } from '@tidemark/cluster';
import { WriteParser } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import { POINTS_READ_AHEAD } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { Build } from './build.ts';
import { followPoints } from './follow-points.ts';
import { labelIn, readRecord } from './point-record.ts';

export type PointWindowOptions = {
  readonly log: Pick<SharedLog, 'ends' | 'read'>;
  readonly build: Build;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

/** Lines are parsed when the first task here needs them. */
type Held = { readonly sizeBytes: number; record?: LogRecord; batch?: PointBatch };

export class PointWindow {
  readonly #options: PointWindowOptions;
  readonly #parser = new WriteParser();
  readonly #held = new Map<number, Held>();
  #heldBytes = 0;
  #last = 0;
  /** Resolved when something is read, or there is room again. */
  #changed: Deferred = deferred();
  #wanted = 0;
  #running: Promise<void> | undefined;

  constructor(options: PointWindowOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#change(), { once: true });
  }

  /** Begins to read; resolves with the number of the first record that it will have. */
  async open(): Promise<number> {
    this.#last = (await this.#options.log.ends()).last;
    const first = this.#last + 1;
    this.#running = followPoints({
      ...this.#options,
      last: () => this.#last,
      take: (record) => this.#take(record),
    });
    return first;
  }

  /**
   * A record that the leader has named, as soon as it has arrived. Rejects when the signal is
   * aborted.
   */
  async batch(sequence: number): Promise<PointBatch> {
    const { signal } = this.#options;
    this.#wanted = Math.max(this.#wanted, sequence);
    if (sequence > this.#last) this.#change();
    while (this.#last < sequence) {
      await this.#changed.promise;
      signal.throwIfAborted();
    }
    const held = this.#held.get(sequence);
    // All tasks that needed it have it already, or run elsewhere: this instance was disconnected
    // too long.
    if (held === undefined) throw new Unavailable('points were dropped before they were read here');
    if (held.record !== undefined) {
      // The leader reads every record and sets aside those that cannot be read.
      const { record } = held;
      const { build } = this.#options;
      held.batch = readRecord(this.#parser, record, { label: labelIn(record), build }).batch;
      delete held.record;
    }
    assert(held.batch !== undefined, 'a record is read');
    return held.batch;
  }

  /** Earlier records will not be requested. */
  forget(before: number): void {
    let isChanged = false;
    for (const [sequence, { sizeBytes }] of this.#held) {
      if (sequence >= before) break;
      this.#held.delete(sequence);
      this.#heldBytes -= sizeBytes;
      isChanged = true;
    }
    if (isChanged) this.#change();
  }

  /** Call it after the signal was aborted. */
  async close(): Promise<void> {
    await this.#running;
  }

  /** Resolves when there is room for another one. */
  async #take(record: LogRecord): Promise<void> {
    const sizeBytes = record.bytes.length;
    this.#held.set(record.sequence, { sizeBytes, record });
    this.#heldBytes += sizeBytes;
    this.#last = record.sequence;
    this.#change();
    while (!this.#hasRoom() && !this.#options.signal.aborted) await this.#changed.promise;
  }

  #hasRoom(): boolean {
    return this.#heldBytes <= POINTS_READ_AHEAD.value || this.#wanted > this.#last;
  }

  #change(): void {
    const changed = this.#changed;
    this.#changed = deferred();
    changed.resolve();
  }
}
