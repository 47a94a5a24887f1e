// Determines up to which record the saved states on the coordinator's disks contain the log of
// points. A server that does not sync after every change may lose its newest states in a power
// failure, and so may all servers at once. States older than its sync interval are on disk, so
// points are kept until then.
import type { Clock } from '@tidemark/core';

type Saved = { readonly through: number; readonly atMs: number };

export class SyncedStates {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** Ascending in time; the first may be synced. */
  #saved: Saved[] = [];
  #synced = 0;

  /** `intervalMs` is the time within which the coordinator syncs what it has acknowledged. */
  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /**
   * The states of all tasks that were saved just now contain the log up to this record. Returns the
   * record up to which synced states do, which may be an earlier one.
   */
  saved(through: number): number {
    const nowMs = this.#clock.monotonicMs();
    this.#saved.push({ through, atMs: nowMs });
    while ((this.#saved[0]?.atMs ?? nowMs + 1) <= nowMs - this.#intervalMs)
      this.#synced = this.#saved.shift()?.through ?? 0;
    return Math.min(this.#synced, through);
  }
}
