// The most recent slow queries, to find out why the service is busy.
import { formatRfc3339 } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

/** A query that has ended. */
export type SlowQuery = {
  /** When it ended, RFC 3339. */
  readonly time: string;
  readonly id: number;
  /** Without passwords. */
  readonly text: string;
  readonly database: string;
  /** Empty without authentication, and for queries of the service itself. */
  readonly user: string;
  /** Address of the client; empty for queries of the service itself. */
  readonly address: string;
  readonly durationMs: number;
  /** Whether KILL QUERY has ended it. */
  readonly isKilled: boolean;
};

export class SlowQueries {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #entries: SlowQuery[] = [];

  /** Keeps queries that took at least this long; 0 keeps none. */
  constructor(clock: Clock, afterMs: number) {
    this.#clock = clock;
    this.#afterMs = afterMs;
  }

  /** Called for every query that ends; `describe` is called for those that are kept. */
  note(durationMs: number, describe: () => Omit<SlowQuery, 'time'>): void {
    if (this.#afterMs === 0 || durationMs < this.#afterMs) return;
    const described = describe();
    const text = described.text.slice(0, LIMITS.slowQueryCharacters.value);
    this.#entries.push({ time: formatRfc3339(this.#clock.now()), ...described, text });
    if (this.#entries.length > LIMITS.slowQueries.value) this.#entries.shift();
  }

  /** Milliseconds from which on a query is kept; 0 keeps none. */
  get afterMs(): number {
    return this.#afterMs;
  }

  /** Newest first. */
  list(): readonly SlowQuery[] {
    return this.#entries.toReversed();
  }
}
