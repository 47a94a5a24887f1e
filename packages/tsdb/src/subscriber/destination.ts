// One destination of a subscription: a bounded queue, deliveries in order, retries, counters.
import type { Clock } from '@tidemark/core';

import type { SubscriberLines } from './lines.ts';
import { LIMITS } from '../limits.ts';

/**
 * Sends bytes to a destination. Rejects when that failed; `canRetry` of the error tells whether to
 * retry.
 */
export interface Transport {
  send(bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** A delivery failed in a way that a retry will not change. */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
}

export type DestinationCounters = {
  pointsWritten: number;
  writeFailures: number;
  /** Batches that were dropped because the queue was full. */
  batchesDropped: number;
  queuedBatches: number;
};

export type DestinationOptions = {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly maxQueuedBatches: number;
  readonly onFailure: (error: unknown) => void;
  /**
   * Passes a batch that could not be delivered to another destination; `false` when there is none
   * left.
   */
  readonly passOn?: ((lines: SubscriberLines) => boolean) | undefined;
};

const RETRY_DELAYS_MS = [100, 500, 2000];

export class Destination {
  readonly counters: DestinationCounters = {
    pointsWritten: 0,
    writeFailures: 0,
    batchesDropped: 0,
    queuedBatches: 0,
  };
  readonly #options: DestinationOptions;
  readonly #queue: SubscriberLines[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: DestinationOptions) {
    this.#options = options;
  }

  /** Takes a batch; `false` when the queue is full. Deliveries keep the order of batches. */
  push(lines: SubscriberLines): boolean {
    if (this.#queue.length >= this.#options.maxQueuedBatches) {
      this.counters.batchesDropped++;
      return false;
    }
    this.#queue.push(lines);
    this.counters.queuedBatches = this.#queue.length;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return true;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stop.signal.aborted) {
      const lines = this.#take();
      try {
        if (await this.#deliver(lines)) this.counters.pointsWritten += lines.pointCount;
        else this.counters.writeFailures++;
      } catch (error) {
        // The points are lost for this destination; the counter and the log say so.
        this.counters.writeFailures++;
        this.#options.onFailure(error);
      }
    }
  }

  /** The next batches that fit into one request. */
  #take(): SubscriberLines {
    const first = this.#queue.shift();
    if (first === undefined) return { bytes: new Uint8Array(0), pointCount: 0 };
    let sizeBytes = first.bytes.length;
    let count = 0;
    for (const { bytes } of this.#queue) {
      if (sizeBytes + bytes.length + 1 > LIMITS.deliveryBytes.value) break;
      sizeBytes += bytes.length + 1;
      count++;
    }
    const batches = [first, ...this.#queue.splice(0, count)];
    this.counters.queuedBatches = this.#queue.length;
    return batches.length === 1 ? first : joinBatches(batches);
  }

  /**
   * Whether they were delivered here; otherwise another destination has them now. Rejects when they
   * are lost.
   */
  async #deliver(lines: SubscriberLines): Promise<boolean> {
    const { clock, transport, passOn } = this.#options;
    const { signal } = this.#stop;
    for (let attempt = 0; ; attempt++) {
      try {
        await transport.send(lines.bytes, signal);
        return true;
      } catch (error) {
        const isOver = error instanceof DeliveryRefused || signal.aborted;
        if (!isOver && attempt === 0 && passOn?.(lines) === true) return false;
        const delayMs = RETRY_DELAYS_MS[attempt];
        if (isOver || delayMs === undefined) throw error;
        await clock.sleep(delayMs, signal);
      }
    }
  }

  /** Waits some time for the queue to drain, then drops what is left. */
  async close(drainMs: number): Promise<void> {
    const { clock, transport } = this.#options;
    if (this.#running !== undefined && drainMs > 0) {
      const timer = new AbortController();
      const late = clock.sleep(drainMs, timer.signal).catch(() => undefined); // Drained in time.
      await Promise.race([this.#running, late]);
      timer.abort();
    }
    this.#stop.abort(new Error('stopping'));
    await this.#running;
    transport.close();
  }
}

function joinBatches(batches: readonly SubscriberLines[]): SubscriberLines {
  const parts: Uint8Array[] = [];
  const separator = Uint8Array.of(10);
  let pointCount = 0;
  let passes = 0;
  for (const batch of batches) {
    passes = Math.max(passes, batch.passes ?? 0);
    parts.push(batch.bytes);
    if (batch.bytes[batch.bytes.length - 1] !== 10) parts.push(separator);
    pointCount += batch.pointCount;
  }
  return { bytes: Buffer.concat(parts), pointCount, passes };
}
