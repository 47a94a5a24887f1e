// Whether a server that is waited for is still there. One that hangs closes no connection, and
// neither does a machine that is gone: both only say nothing. A statement may take long, a probe
// does not; so a slow statement is no sign of a failure, and an unanswered probe is one.
import { messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import { Unreachable } from './failure.ts';

export type PulseOptions = {
  readonly clock: Clock;
  /** How long a server may be silent; 0 waits for ever. */
  readonly pingTimeoutMs: number;
};

export type Probe = {
  /** Resolves when the server is well. Rejects soon after the signal. */
  readonly ask: (signal: AbortSignal) => Promise<void>;
  /** The message of a failed probe; `isLate`: it was not answered in time. */
  readonly failed: (reason: string, isLate: boolean) => string;
};

/** Something that is waited for. */
export type Wait = {
  /** Aborted by the caller's signal, or with `Unreachable` when a probe fails. */
  readonly signal: AbortSignal;
  end(): void;
};

export class Pulse {
  readonly #probe: Probe;
  readonly #options: PulseOptions;
  readonly #waiting = new Set<AbortController>();
  readonly #closed = new AbortController();
  #failure: Unreachable | undefined;
  #watching: Promise<void> | undefined;

  constructor(probe: Probe, options: PulseOptions) {
    this.#probe = probe;
    this.#options = options;
  }

  /**
   * Begins to wait for the server. Throws `Unreachable` at once while the last probe has failed:
   * the server is probed until it answers, and waited for again from then on.
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

  /** Together with the timeout of the probe that follows, no longer than a server may be silent. */
  get #pauseMs(): number {
    return Math.min(LIMITS.pingAfterMs.value, this.#options.pingTimeoutMs / 4);
  }

  /** Runs while something is waited for, and until a silent server answers. */
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
      // Closed: nothing is waited for any more.
    }
    this.#watching = undefined;
  }

  async #ask(): Promise<void> {
    const asked = [...this.#waiting];
    const late = AbortSignal.timeout(this.#options.pingTimeoutMs - this.#pauseMs);
    try {
      await this.#probe.ask(AbortSignal.any([late, this.#closed.signal]));
      this.#failure = undefined;
    } catch (cause) {
      const message = this.#probe.failed(messageOf(cause), late.aborted);
      this.#failure = new Unreachable(message, { cause });
      for (const one of asked) one.abort(this.#failure);
    }
  }
}
