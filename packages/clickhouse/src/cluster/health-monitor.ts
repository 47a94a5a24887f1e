// Watches a server while something waits for it. A server that hangs, or whose machine is gone,
// does not close its connections; it is only silent. A statement may take long but a probe does
// not, so an unanswered probe means failure and a slow statement does not.
import { messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import { Unreachable } from './failure.ts';

export type HealthMonitorOptions = {
  readonly clock: Clock;
  /** The longest silence before a server counts as failed; 0 is no limit. */
  readonly pingTimeoutMs: number;
};

export type Probe = {
  /** Resolves when the server is healthy. Rejects soon after the signal. */
  readonly ask: (signal: AbortSignal) => Promise<void>;
  /** The error message of a failed probe; `isLate` means that it timed out. */
  readonly failed: (reason: string, isLate: boolean) => string;
};

/** A wait for a server, such as a running statement. */
export type Wait = {
  /** Aborted with the caller's signal, or with `Unreachable` when a probe fails. */
  readonly signal: AbortSignal;
  end(): void;
};

export class HealthMonitor {
  readonly #probe: Probe;
  readonly #options: HealthMonitorOptions;
  readonly #waiting = new Set<AbortController>();
  readonly #closed = new AbortController();
  #failure: Unreachable | undefined;
  #watching: Promise<void> | undefined;

  constructor(probe: Probe, options: HealthMonitorOptions) {
    this.#probe = probe;
    this.#options = options;
  }

  /**
   * Begins a wait. Throws `Unreachable` at once if the last probe failed; the server is probed
   * until it answers again.
   */
  wait(signal?: AbortSignal): Wait {
    if (this.#failure !== undefined) throw this.#failure;
    const silent = new AbortController();
    this.#waiting.add(silent);
    if (this.#options.pingTimeoutMs > 0) this.#watching ??= this.#watch();
    return {
      signal: signal === undefined ? silent.signal : AbortSignal.any([signal, silent.signal]),
      end: () => void this.#waiting.delete(silent),
    };
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('closed'));
    await this.#watching;
  }

  /** Pause and timeout of the next probe together are the longest allowed silence. */
  get #pauseMs(): number {
    return Math.min(LIMITS.pingAfterMs.value, this.#options.pingTimeoutMs / 4);
  }

  /** Runs while there are waits, and until a failed server answers again. */
  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closed;
    try {
      for (;;) {
        await clock.sleep(this.#pauseMs, signal);
        if (this.#waiting.size === 0 && this.#failure === undefined) break;
        await this.#ask();
      }
    } catch {
      // Closed: nobody waits any more.
    }
    this.#watching = undefined;
  }

  async #ask(): Promise<void> {
    const { clock, pingTimeoutMs } = this.#options;
    const asked = [...this.#waiting];
    const leftMs = pingTimeoutMs - this.#pauseMs;
    const lateMs = clock.monotonicMs() + leftMs;
    const late = AbortSignal.timeout(leftMs);
    try {
      await this.#probe.ask(AbortSignal.any([late, this.#closed.signal]));
      this.#failure = undefined;
    } catch (cause) {
      // The timer fires late when this process was suspended or too busy to read the answer: the
      // silence was its own, and the server is asked again.
      if (late.aborted && clock.monotonicMs() - lateMs > this.#pauseMs) return;
      const message = this.#probe.failed(messageOf(cause), late.aborted);
      this.#failure = new Unreachable(message, { cause });
      for (const one of asked) one.abort(this.#failure);
    }
  }
}
