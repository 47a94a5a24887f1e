// Virtual time of a simulation: events in one order, each followed by everything that it causes.
import type { Clock } from '@tidemark/core';
import { settled } from './event-loop.ts';

type Event = { readonly atMs: number; readonly number: number; readonly run: () => void };

/** Wall time at the beginning, in ms. */
export const START_MS = 1_700_000_000_000;

export class Timeline {
  #nowMs = 0;
  #number = 0;
  /** In no order; there are few. */
  #events: Event[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  /** The result takes it back. */
  at(atMs: number, run: () => void): () => void {
    const event = { atMs: Math.max(atMs, this.#nowMs), number: this.#number++, run };
    this.#events.push(event);
    return () => {
      const index = this.#events.indexOf(event);
      if (index >= 0) this.#events.splice(index, 1);
    };
  }

  /** Moves on to a time, event by event; `after` is called behind each. */
  async passTo(endMs: number, after: () => Promise<void>): Promise<void> {
    await settled();
    for (;;) {
      let next: Event | undefined;
      for (const event of this.#events)
        if (
          next === undefined ||
          event.atMs < next.atMs ||
          (event.atMs === next.atMs && event.number < next.number)
        )
          next = event;
      if (next === undefined || next.atMs > endMs) break;
      this.#events.splice(this.#events.indexOf(next), 1);
      this.#nowMs = next.atMs;
      next.run();
      await settled();
      await after();
    }
    this.#nowMs = endMs;
  }
}

/** The clock of one process, which may be stopped for a while, or forever. */
export class ProcessClock implements Clock {
  readonly #timeline: Timeline;
  #state: 'running' | 'stopped' | 'ended' = 'running';
  /** Callbacks that were due while it was stopped. */
  #due: (() => void)[] = [];

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  now(): bigint {
    return BigInt(Math.round((START_MS + this.#timeline.nowMs) * 1e6));
  }

  monotonicMs(): number {
    return this.#timeline.nowMs;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const cancel = this.#timeline.at(this.#timeline.nowMs + delayMs, () => this.#wake(wake));
      const wake = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Runs something at a later time, when the process is running then, or as soon as it does. */
  after(delayMs: number, run: () => void): void {
    this.#timeline.at(this.#timeline.nowMs + delayMs, () => this.#wake(run));
  }

  /** Runs something now, or as soon as the process is running. */
  soon(run: () => void): void {
    this.#wake(run);
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'stopped';
  }

  goOn(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'running';
    const due = this.#due;
    this.#due = [];
    for (const wake of due) this.#timeline.at(this.#timeline.nowMs, () => this.#wake(wake));
  }

  /** Nothing of the process happens any more. */
  end(): void {
    this.#state = 'ended';
    this.#due = [];
  }

  #wake(wake: () => void): void {
    if (this.#state === 'running') wake();
    else if (this.#state === 'stopped') this.#due.push(wake);
  }
}
