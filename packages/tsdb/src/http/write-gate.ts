// Limits how many writes are handled at once, how many may wait, and for how long.
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { THROTTLED_QUEUE_FULL, THROTTLED_TIMEOUT } from '../compat/messages.ts';
import { askToRetry, sendText } from './answer.ts';
import type { Handler } from './parts.ts';

/** Too many writes. */
class Throttled extends Unavailable {}

/** Handles requests that the gate lets in; answers the others as plain text, as clients expect. */
export function behindGate(handle: Handler): Handler {
  return async (exchange, parts, identity) => {
    let leave: () => void;
    try {
      const entry = parts.gate.enter();
      leave = entry instanceof Promise ? await entry : entry;
    } catch (error) {
      if (!(error instanceof Throttled)) throw error;
      askToRetry(exchange);
      return sendText(exchange, 503, error.message);
    }
    try {
      await handle(exchange, parts, identity);
    } finally {
      leave();
    }
  };
}

export type WriteGateOptions = {
  /** 0 is no limit. */
  readonly maxActive: number;
  /** 0 is no limit. */
  readonly maxWaiting: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
};

const LEAVE_NOTHING = (): void => undefined;

export class WriteGate {
  readonly #options: WriteGateOptions;
  readonly #waiting = new Set<() => void>();
  #active = 0;

  constructor(options: WriteGateOptions) {
    this.#options = options;
  }

  /**
   * A function to call when the write is done, at once if it need not wait. Throws or rejects with
   * `Throttled`.
   */
  enter(): (() => void) | Promise<() => void> {
    const { maxActive } = this.#options;
    if (maxActive === 0) return LEAVE_NOTHING;
    if (this.#active >= maxActive) return this.#wait().then(() => this.#exit());
    this.#active++;
    return this.#exit();
  }

  #exit(): () => void {
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#leave();
    };
  }

  /** The slot is passed on, so `#active` does not change. */
  #leave(): void {
    const next = this.#waiting.values().next().value;
    if (next === undefined) this.#active--;
    else {
      this.#waiting.delete(next);
      next();
    }
  }

  #wait(): Promise<void> {
    const { clock, maxWaiting, timeoutMs } = this.#options;
    if (maxWaiting > 0 && this.#waiting.size >= maxWaiting) {
      throw new Throttled(THROTTLED_QUEUE_FULL);
    }
    return new Promise((resolve, reject) => {
      const timer = new AbortController();
      const admit = (): void => {
        timer.abort('admitted');
        resolve();
      };
      this.#waiting.add(admit);
      clock.sleep(timeoutMs, timer.signal).then(
        () => {
          this.#waiting.delete(admit);
          reject(new Throttled(THROTTLED_TIMEOUT));
        },
        () => undefined, // Admitted in time.
      );
    });
  }
}
