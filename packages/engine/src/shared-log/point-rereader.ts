// Rereads parts of the log of points for tasks that continue from saved states. When a host or an
// instance fails, many tasks need nearly the same part at once; one read serves all of them.
import { deferred, messageOf } from '@tidemark/core';
import type { Clock, Deferred } from '@tidemark/core';
import type { LogRecord, SharedLog } from '@tidemark/cluster';
import type { PointBatch } from '@tidemark/runtime';
import type { Logger } from '../observability/log-hub.ts';

/** The part that one task needs. */
export type Rereading = {
  readonly first: number;
  /** The last record, which must exist. */
  readonly through: number;
  /** Ends the read at any point. */
  readonly signal: AbortSignal;
  /** `undefined` when it accepts more. */
  readonly ready: () => Promise<void> | undefined;
  readonly give: (batch: PointBatch) => void;
};

export type PointRereaderOptions = {
  readonly log: Pick<SharedLog, 'read'>;
  readonly batchOf: (record: LogRecord) => PointBatch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends everything. */
  readonly signal: AbortSignal;
};

type Reader = Rereading & { next: number; readonly done: Deferred };

/** Tasks of one host restart within about this time. */
const GATHER_MS = 50;

const RETRY_MS = 200;

export class PointRereader {
  readonly #options: PointRereaderOptions;
  /** Readers that the next pass serves. */
  #readers: Reader[] = [];
  readonly #open = new Set<Reader>();
  #isRunning = false;

  constructor(options: PointRereaderOptions) {
    this.#options = options;
    const end = (): void => this.#open.forEach(({ done }) => done.resolve());
    options.signal.addEventListener('abort', end, { once: true });
  }

  /** Reads a part of the log in order. Resolves with `false` if a signal ended it early. */
  async read(rereading: Rereading): Promise<boolean> {
    if (rereading.through < rereading.first) return true;
    const reader = { ...rereading, next: rereading.first, done: deferred() };
    if (this.#options.signal.aborted || rereading.signal.aborted) return false;
    this.#open.add(reader);
    const end = (): void => reader.done.resolve();
    rereading.signal.addEventListener('abort', end, { once: true });
    void this.#queue(reader); // `ready` does not reject.
    await reader.done.promise;
    rereading.signal.removeEventListener('abort', end);
    this.#open.delete(reader);
    return reader.next > reader.through;
  }

  async #queue(reader: Reader): Promise<void> {
    await reader.ready();
    this.#readers.push(reader);
    if (!this.#isRunning) void this.#run(); // Never rejects.
  }

  async #run(): Promise<void> {
    const { clock, logger, signal } = this.#options;
    this.#isRunning = true;
    while (this.#readers.length > 0 && !signal.aborted) {
      await clock.sleep(GATHER_MS, signal).catch(() => undefined);
      const readers = new Set(this.#readers);
      this.#readers = [];
      try {
        await this.#pass(readers);
      } catch (error) {
        logger('warn', 'failed to read the log of points again', { err: messageOf(error) });
        this.#readers.push(...readers);
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
    this.#isRunning = false;
  }

  /** One pass over the log; the next one continues for readers that are not done. */
  async #pass(readers: Set<Reader>): Promise<void> {
    const { log, batchOf, signal } = this.#options;
    const first = Math.min(...[...readers].map(({ next }) => next));
    const through = Math.max(...[...readers].map((reader) => reader.through));
    for await (const record of log.read({ first, through, signal })) {
      let batch: PointBatch | undefined;
      for (const reader of readers) {
        const { sequence } = record;
        if (reader.signal.aborted) readers.delete(reader);
        else if (sequence < reader.next) continue;
        else if (sequence <= reader.through && reader.ready() !== undefined) {
          // It is slow, and the others do not wait for it.
          readers.delete(reader);
          void this.#queue(reader); // `ready` does not reject.
        } else {
          if (sequence <= reader.through) reader.give((batch ??= batchOf(record)));
          reader.next = sequence + 1;
          if (reader.next <= reader.through) continue;
          readers.delete(reader);
          reader.done.resolve();
        }
      }
      if (readers.size === 0) return;
    }
    // All states contain the purged records, so they are not needed.
    for (const reader of readers) {
      if (signal.aborted) return;
      reader.next = reader.through + 1;
      reader.done.resolve();
    }
  }
}
