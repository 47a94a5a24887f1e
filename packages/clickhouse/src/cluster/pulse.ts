// Whether a server that is waited for is still there. One that hangs closes no connection, and
// neither does a machine that is gone: both only say nothing. A statement may take long, a ping
// does not; so what a statement takes is no sign, and an unanswered ping is one.
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import { Unreachable } from './failure.ts';

export type PulseOptions = {
  readonly clock: Clock;
  /** How long an answer may take; 0 waits for ever. */
  readonly pingTimeoutMs: number;
};

/** Something that is waited for. */
export type Wait = {
  /** Aborted by the caller's signal, or with `Unreachable` when the server says nothing. */
  readonly signal: AbortSignal;
  end(): void;
};

export class Pulse {
  readonly #url: string;
  readonly #options: PulseOptions;
  readonly #waiting = new Set<AbortController>();
  readonly #closed = new AbortController();
  #silence: Unreachable | undefined;
  #watching: Promise<void> | undefined;

  /** `url` is that of the server, without a password. */
  constructor(url: string, options: PulseOptions) {
    this.#url = url;
    this.#options = options;
  }

  /**
   * Begins to wait for the server. Throws `Unreachable` at once while it is known to say nothing:
   * it is asked all the time, and waited for again when it answers.
   */
  wait(signal?: AbortSignal): Wait {
    if (this.#silence !== undefined) throw this.#silence;
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

  /** Runs while something is waited for, and until a silent server answers. */
  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closed;
    try {
      for (;;) {
        await clock.sleep(LIMITS.pingAfterMs.value, signal);
        if (this.#waiting.size === 0 && this.#silence === undefined) break;
        await this.#ping();
      }
    } catch {
      // Closed: nobody waits any more.
    }
    this.#watching = undefined;
  }

  async #ping(): Promise<void> {
    const { pingTimeoutMs } = this.#options;
    const asked = [...this.#waiting];
    const late = AbortSignal.timeout(pingTimeoutMs);
    try {
      await answerOf(`${this.#url}/ping`, AbortSignal.any([late, this.#closed.signal]));
      this.#silence = undefined;
    } catch (cause) {
      const what = late.aborted ? `a ping for ${pingTimeoutMs} ms` : 'pings';
      this.#silence = new Unreachable(`ClickHouse does not answer ${what}. url=\`${this.#url}\``, {
        cause,
      });
      for (const one of asked) one.abort(this.#silence);
    }
  }
}

/** On a connection of its own: those of statements may all be in use. */
function answerOf(url: string, signal: AbortSignal): Promise<void> {
  const get = url.startsWith('https:') ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    get(url, { agent: false, signal }, (response) => {
      response.resume();
      resolve();
    }).once('error', reject);
  });
}
