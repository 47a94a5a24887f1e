// Determines up to which record the saved states on the coordinator's disks contain the log of
// points. A server that does not sync after every change may lose its newest states in a power
// failure, and so may all servers at once. States older than its sync interval are on disk, so
// points are kept until then.
import type { Clock } from '@tidemark/core';

type Saved = { readonly through: number; readonly atMs: number };

export class SyncedStates {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** In the order of time; the first may be synced. */
  #saved: Saved[] = [];
  #synced = 0;

  /** `intervalMs` is how long the coordinator may take to sync what it has acknowledged. */
  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /**
   * The states that were saved just now, of all tasks, contain the log up to a record. Answers up
   * to which record states do that are synced: no later one.
   */
  saved(through: number): number {
    const nowMs = this.#clock.monotonicMs();
    this.#saved.push({ through, atMs: nowMs });
    while ((this.#saved[0]?.atMs ?? nowMs + 1) <= nowMs - this.#intervalMs)
      this.#synced = this.#saved.shift()?.through ?? 0;
    return Math.min(this.#synced, through);
  }
}
