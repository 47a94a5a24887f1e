// Collects points of a listener into batches: full ones are written at once, others after a time.
import { messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { ListenerPoint } from './listener-point.ts';

/** Receives points of listeners. */
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

export type BatcherOptions = {
  readonly writer: ListenerSink;
  readonly clock: Clock;
  readonly log: ListenerLog;
  readonly target: { readonly database: string; readonly retentionPolicy: string };
  readonly batchSize: number;
  /** Full batches that may wait; beyond it points are dropped. */
  readonly maxPending: number;
  readonly timeoutMs: number;
  /** Called for points that were read but not stored. */
  readonly onDropped: (count: number, reason: string) => void;
};

/** Counters common to all listeners. */
function listenerCounters() {
  return {
    bytesRx: 0,
    pointsRx: 0,
    pointsParseFail: 0,
    pointsTx: 0,
    pointsDropped: 0,
    batchesTx: 0,
    batchesTxFail: 0,
  };
}
export type ListenerCounters = ReturnType<typeof listenerCounters>;

export class Batcher {
  readonly counters: ListenerCounters = listenerCounters();
  readonly #options: BatcherOptions;
  #points: ListenerPoint[] = [];
  #pending = 0;
  #timer: AbortController | undefined;
  #tail: Promise<void> = Promise.resolve();

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  add(point: ListenerPoint): void {
    this.counters.pointsRx++;
    this.#points.push(point);
    if (this.#points.length >= Math.max(1, this.#options.batchSize)) this.#send();
    else this.#startTimer();
  }

  #startTimer(): void {
    if (this.#timer !== undefined) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#options.clock.sleep(this.#options.timeoutMs, timer.signal).then(
      () => this.#send(),
      () => undefined, // The batch became full first, or the listener is closed.
    );
  }

  #send(): void {
    this.#timer?.abort('sent');
    this.#timer = undefined;
    const points = this.#points;
    if (points.length === 0) return;
    this.#points = [];
    if (this.#pending >= Math.max(1, this.#options.maxPending)) {
      this.counters.pointsDropped += points.length;
      this.#options.onDropped(points.length, 'too many batches wait for storage');
      return;
    }
    this.#pending++;
    this.#tail = this.#tail.then(() => this.#write(points));
  }

  async #write(points: readonly ListenerPoint[]): Promise<void> {
    const { writer, target, log, onDropped } = this.#options;
    try {
      const outcome = await writer.writePoints(target, points);
      this.counters.batchesTx++;
      this.counters.pointsTx += outcome.pointsWritten;
      if (outcome.dropped === undefined) return;
      this.counters.pointsDropped += outcome.dropped.count;
      onDropped(outcome.dropped.count, outcome.dropped.reason);
    } catch (error) {
      // The sender of a datagram gets no reply; the failure is counted and logged.
      this.counters.batchesTxFail++;
      onDropped(points.length, messageOf(error));
      log.warn({ err: error, points: points.length }, 'a batch of a listener could not be written');
    } finally {
      this.#pending--;
    }
  }

  /** Writes the remaining points. */
  async close(): Promise<void> {
    this.#send();
    await this.#tail;
  }
}
