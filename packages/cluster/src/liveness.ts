// Tells which members are alive, by entries of the register that change as long as they are
// renewed. Time in which this instance could not read them does not count: its own silence is not
// that of the others.
import type { Clock } from '@tidemark/core';

/** Entries are usually read more often than this within a lease. */
const LOOKS_MIN = 3;

type Seen = { readonly revision: number; sinceMs: number };

export class Liveness {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #silentMs: number;
  readonly #seen = new Map<string, Seen>();
  #lookedMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#silentMs = leaseMs / LOOKS_MIN;
  }

  /** Called after each successful read of the entries, before `isAlive` is asked. */
  looked(): void {
    const nowMs = this.#clock.monotonicMs();
    const silentMs = nowMs - this.#lookedMs - this.#silentMs;
    if (silentMs > 0) for (const seen of this.#seen.values()) seen.sinceMs += silentMs;
    this.#lookedMs = nowMs;
  }

  /** Whether an entry, which has this revision now, has changed within a lease. */
  isAlive(key: string, revision: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const seen = this.#seen.get(key);
    if (seen?.revision !== revision) {
      this.#seen.set(key, { revision, sinceMs: nowMs });
      return true;
    }
    return nowMs - seen.sinceMs <= this.#leaseMs;
  }
}
