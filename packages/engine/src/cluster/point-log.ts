// Points that the engine has acknowledged, in a log at the coordinator until every task's saved
// state contains them. What the tasks are given is read from there, so that it comes in one order,
// whoever leads, and a leader that takes over goes on where the states were saved.
import { randomUUID } from 'node:crypto';
import { messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { LogRecord, MessageLog } from '@tidemark/cluster';
import type { Precision } from '@tidemark/line-protocol';
import { WriteParser } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import { opening } from '../opening.ts';
import type { Build } from './build.ts';
import { followPoints } from './follow-points.ts';
import { POINTS_NAMED } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import { batchOf, labelOf } from './point-record.ts';
import type { PointLabel } from './point-record.ts';
import { PointRereader } from './point-rereader.ts';
import type { Rereading } from './point-rereader.ts';

/** Lines as they are kept. */
export type LoggedWrite = {
  readonly body: Uint8Array;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly precision: Precision;
  /** Time of points without one. */
  readonly now: bigint;
};

export type PointLogOptions = {
  readonly log: MessageLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly build: Build;
  /** Ends with the term of this leader. */
  readonly signal: AbortSignal;
};

type Waiting = {
  /** The lines as they were read before they were kept. */
  readonly batch: PointBatch | undefined;
  /** Told when the tasks are given them. */
  readonly given: (dispatched: Promise<void>) => void;
};

export type Dispatch = (batch: PointBatch) => Promise<void>;

export class PointLog {
  readonly #options: PointLogOptions;
  readonly #parser = new WriteParser();
  /** Writes of this process that have not come back yet. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #rereader: PointRereader;
  readonly #recent: { readonly sequence: number; readonly sizeBytes: number }[] = [];
  #recentBytes = 0;
  #dispatched = 0;
  #last = 0;
  #running: Promise<void> | undefined;

  constructor(options: PointLogOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#closed.signal]);
    this.#rereader = new PointRereader({
      ...options,
      batchOf: (record) => this.#batchOf(record),
      signal: this.#signal,
    });
  }

  /** Number of the last record that the tasks were given. */
  get dispatched(): number {
    return this.#dispatched;
  }

  /** Number of the last record that is known to be there. */
  get last(): number {
    return Math.max(this.#last, this.#dispatched);
  }

  /**
   * Others that read the log as well are told of records by their numbers, from this one on; it
   * rises.
   */
  get firstNamed(): number {
    return this.#recent[0]?.sequence ?? 0;
  }

  /** Before anything is given: what tasks start with that have no state. */
  async begin(): Promise<void> {
    this.#dispatched = (await this.#options.log.ends()).last;
  }

  /**
   * Gives the tasks everything after `after` that is there, each batch when the one before was
   * taken, and from then on what comes.
   */
  async open(after: number, dispatch: Dispatch): Promise<void> {
    const { log, logger } = this.#options;
    const { first, last } = await log.ends();
    if (after + 1 < first && last > after)
      logger('warn', 'points are missing that some tasks have not seen', { after, first });
    this.#dispatched = Math.min(after, last);
    this.#last = last;
    if (last > after) {
      const range = { first: after + 1, through: last, signal: this.#signal };
      for await (const record of log.read(range)) await dispatch(this.#batchOf(record));
    }
    this.#signal.throwIfAborted();
    this.#dispatched = last;
    this.#running = followPoints({
      ...this.#options,
      signal: this.#signal,
      last: () => this.#dispatched,
      take: (record) => this.#give(record, dispatch),
    });
  }

  /** Gives one task a part of the log again. */
  again(rereading: Rereading): Promise<void> {
    return this.#rereader.read(rereading);
  }

  /**
   * Keeps lines that were found to be right; `batch` are their points. Resolves when they are kept
   * and were given to the tasks, as far as those take them. Throws `Unavailable` when they may not
   * have been kept.
   */
  async append(write: LoggedWrite, batch?: PointBatch): Promise<void> {
    const id = randomUUID();
    const { body, database: db, retentionPolicy: rp, precision, now } = write;
    const label: PointLabel = { id, db, rp, precision, now: String(now) };
    const { promise, resolve } = opening();
    let given: Promise<void> | undefined;
    this.#waiting.set(id, {
      batch,
      given: (dispatched) => {
        given = dispatched;
        resolve();
      },
    });
    try {
      const signal = this.#signal;
      this.#last = await this.#options.log.append(body, { label: JSON.stringify(label), signal });
      await orEnded(promise, signal);
    } finally {
      this.#waiting.delete(id);
    }
    await given;
  }

  /** Forgets everything up to a number, which all saved states contain. */
  async forget(through: number): Promise<void> {
    const { log, logger } = this.#options;
    if (through <= 0) return;
    try {
      await log.purge(through + 1);
    } catch (error) {
      // The log is longer than it needs to be until the next time.
      logger('warn', 'failed to shorten the log of points', { err: messageOf(error) });
    }
  }

  /** Nothing more is given. */
  async close(): Promise<void> {
    this.#closed.abort(new Unavailable('the engine stops'));
    await this.#running;
  }

  #give(record: LogRecord, dispatch: Dispatch): void {
    const { id, now } = labelOf(record, this.#options.build);
    const waiting = this.#waiting.get(id);
    const batch =
      waiting?.batch === undefined
        ? this.#batchOf(record)
        : { ...waiting.batch, record: record.sequence, arrived: BigInt(now) };
    this.#dispatched = record.sequence;
    this.#name(record);
    // Who has written them waits for the tasks; others are not held up.
    const dispatched = dispatch(batch);
    dispatched.catch(() => undefined);
    waiting?.given(dispatched);
  }

  #name({ sequence, bytes }: LogRecord): void {
    this.#recent.push({ sequence, sizeBytes: bytes.length });
    this.#recentBytes += bytes.length;
    while (this.#recentBytes > POINTS_NAMED.value && this.#recent.length > 1)
      this.#recentBytes -= this.#recent.shift()?.sizeBytes ?? 0;
  }

  #batchOf(record: LogRecord): PointBatch {
    return batchOf(this.#parser, record, this.#options.build);
  }
}

function orEnded(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new Unavailable(messageOf(signal.reason)));
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    work.then(
      () => {
        signal.removeEventListener('abort', end);
        resolve();
      },
      () => undefined,
    );
  });
}
