// Whether requests are served: after storage has read its log, except while its thread restarts.
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

/** `recovering`: storage reads its log, after the start or because its thread has failed. */
export type ServiceState = 'ready' | 'recovering';

export class Readiness {
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  /** Ends the waits for readiness; replaced when they have ended. */
  #becomesReady = new AbortController();
  #isServing = false;
  #isStorageAvailable = true;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get state(): ServiceState {
    return this.#isServing && this.#isStorageAvailable ? 'ready' : 'recovering';
  }

  /** The service has started. */
  serves(): void {
    this.#isServing = true;
    this.#endWaits();
  }

  setStorageAvailable(isAvailable: boolean): void {
    this.#isStorageAvailable = isAvailable;
    this.#endWaits();
  }

  /** Ends all waits. */
  close(): void {
    this.#closed.abort();
  }

  /**
   * Whether the service is ready, now or within `LIMITS.pingWaitMs`. Answers early when it closes
   * or `gone` is aborted.
   */
  async waitUntilReady(gone: AbortSignal): Promise<boolean> {
    if (this.state !== 'ready') {
      const signal = AbortSignal.any([gone, this.#closed.signal, this.#becomesReady.signal]);
      // Rejects when it is aborted: the wait has an end.
      await this.#clock.sleep(LIMITS.pingWaitMs.value, signal).catch(() => undefined);
    }
    return this.state === 'ready';
  }

  #endWaits(): void {
    if (this.state !== 'ready') return;
    this.#becomesReady.abort();
    this.#becomesReady = new AbortController();
  }
}
