// Points of a source on their way to storage. They are written in batches, one after the other:
// full ones at once, others after a time. The source is told what became of its points.
import { deferred, messageOf, Unavailable } from '@tidemark/core';
import type { Clock, Deferred } from '@tidemark/core';
import type { ListenerPoint } from './listener-point.ts';

/** Receives points of sources. */
export interface ListenerSink {
  /** Writes points; resolves when they are accepted. Rejected ones are counted with a reason. */
  writePoints(
    target: { readonly database: string; readonly retentionPolicy: string },
    points: readonly ListenerPoint[],
  ): Promise<{
    readonly pointsWritten: number;
    readonly dropped?: { readonly count: number; readonly reason: string } | undefined;
  }>;
}

/** Structured log lines, fields first. */
export interface ListenerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * What became of points.
 *
 * - `stored`: all of them are.
 * - `refused`: `count` points of their batch are not and never can be; all others are stored.
 * - `failed`: none is known to be stored. Sending them again may help.
 *
 * A consumer of a queue commits its offset after the first two.
 */
export type PointsOutcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'refused'; readonly count: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: unknown };

export type BatcherOptions = {
  readonly writer: ListenerSink;
  readonly clock: Clock;
  readonly log: ListenerLog;
  readonly target: { readonly database: string; readonly retentionPolicy: string };
  readonly batchSize: number;
  /** Batches that may wait; beyond it points fail. */
  readonly maxPending: number;
  readonly timeoutMs: number;
  /** Called for points that were read but not stored. */
  readonly onDropped: (count: number, reason: string) => void;
};

/** Counters common to all sources. */
function listenerCounters() {
  return {
    bytesRx: 0,
    pointsRx: 0,
    pointsParseFail: 0,
    pointsTx: 0,
    /** Refused and failed ones. */
    pointsDropped: 0,
    batchesTx: 0,
    batchesTxFail: 0,
  };
}
export type ListenerCounters = ReturnType<typeof listenerCounters>;

/** Points that are added together, and what their sources wait for. */
type Batch = { readonly points: ListenerPoint[]; readonly outcome: Deferred<PointsOutcome> };

const STORED: PointsOutcome = { kind: 'stored' };

export class Batcher {
  readonly counters: ListenerCounters = listenerCounters();
  readonly #options: BatcherOptions;
  /** The batch that takes more points. */
  #open: Batch | undefined;
  #pending = 0;
  #timer: AbortController | undefined;
  #tail: Promise<void> = Promise.resolve();

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /**
   * Writes points together with others, when a batch is full or after a time. Resolves with the
   * outcome of that batch; never rejects.
   */
  add(points: readonly ListenerPoint[]): Promise<PointsOutcome> {
    if (points.length === 0) return Promise.resolve(STORED);
    this.counters.pointsRx += points.length;
    const batch = (this.#open ??= { points: [], outcome: deferred<PointsOutcome>() });
    for (const point of points) batch.points.push(point);
    if (batch.points.length >= Math.max(1, this.#options.batchSize)) this.#sendOpen();
    else this.#startTimer();
    return batch.outcome.promise;
  }

  /**
   * Writes points by themselves as soon as the batches before them are written. Resolves with their
   * own outcome; never rejects.
   */
  write(points: readonly ListenerPoint[]): Promise<PointsOutcome> {
    if (points.length === 0) return Promise.resolve(STORED);
    this.counters.pointsRx += points.length;
    this.#sendOpen();
    const outcome = deferred<PointsOutcome>();
    this.#send({ points: [...points], outcome });
    return outcome.promise;
  }

  #startTimer(): void {
    if (this.#timer !== undefined) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#options.clock.sleep(this.#options.timeoutMs, timer.signal).then(
      () => this.#sendOpen(),
      () => undefined, // The batch became full first, or the source is closed.
    );
  }

  #sendOpen(): void {
    this.#timer?.abort('sent');
    this.#timer = undefined;
    const batch = this.#open;
    this.#open = undefined;
    if (batch !== undefined) this.#send(batch);
  }

  #send({ points, outcome }: Batch): void {
    const { maxPending } = this.#options;
    if (this.#pending >= Math.max(1, maxPending)) {
      const reason = 'too many batches wait for storage';
      this.#drop(points.length, reason);
      outcome.resolve({ kind: 'failed', error: new Unavailable(reason) });
      return;
    }
    this.#pending++;
    this.#tail = this.#tail.then(async () => {
      const became = await this.#write(points);
      this.#pending--;
      outcome.resolve(became);
    });
  }

  async #write(points: readonly ListenerPoint[]): Promise<PointsOutcome> {
    const { writer, target, log } = this.#options;
    try {
      const { pointsWritten, dropped } = await writer.writePoints(target, points);
      this.counters.batchesTx++;
      this.counters.pointsTx += pointsWritten;
      if (dropped === undefined) return STORED;
      this.#drop(dropped.count, dropped.reason);
      return { kind: 'refused', ...dropped };
    } catch (error) {
      // Not every source waits for the outcome: a datagram has no answer.
      this.counters.batchesTxFail++;
      this.#drop(points.length, messageOf(error));
      log.warn({ err: error, points: points.length }, 'a batch of a listener could not be written');
      return { kind: 'failed', error };
    }
  }

  #drop(count: number, reason: string): void {
    this.counters.pointsDropped += count;
    this.#options.onDropped(count, reason);
  }

  /** Writes the remaining points. */
  async close(): Promise<void> {
    this.#sendOpen();
    await this.#tail;
  }
}
