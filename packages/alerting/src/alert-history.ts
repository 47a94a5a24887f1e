// The history of level changes, for timelines of alerts. Topics store only the current state.
import type { Timestamp } from '@tidemark/core';
import type { AlertLevelName } from '@tidemark/runtime';
import { HISTORY_LENGTH } from './limits.ts';

/** One event that changed its level. */
export type LevelChange = {
  readonly topic: string;
  readonly id: string;
  readonly level: AlertLevelName;
  readonly previous: AlertLevelName;
  /** Time of the point that changed the level. */
  readonly time: Timestamp;
  readonly durationNanos: bigint;
};

export class AlertHistory {
  #changes: LevelChange[] = [];
  /** Index of the first change that `takeNew` has not returned yet. */
  #newFrom = 0;

  /** Loads the history of an earlier run, in its order. */
  load(changes: readonly LevelChange[]): void {
    this.#changes = [
      ...changes.slice(-HISTORY_LENGTH.value),
      ...this.#changes.slice(this.#newFrom),
    ];
    this.#newFrom = Math.min(changes.length, HISTORY_LENGTH.value);
  }

  add(change: LevelChange): void {
    this.#changes.push(change);
    // Seldom, and then half of it: removing each one separately would be as expensive as removing
    // all.
    if (this.#changes.length < HISTORY_LENGTH.value * 2) return;
    const dropped = this.#changes.length - HISTORY_LENGTH.value;
    this.#changes = this.#changes.slice(dropped);
    this.#newFrom = Math.max(0, this.#newFrom - dropped);
  }

  /** The newest first, for one topic or for all. */
  *list(topic: string): Iterable<LevelChange> {
    const oldest = Math.max(0, this.#changes.length - HISTORY_LENGTH.value);
    for (let i = this.#changes.length - 1; i >= oldest; i--) {
      const change = this.#changes[i];
      if (change !== undefined && (topic === '' || change.topic === topic)) yield change;
    }
  }

  /** The changes since the last call, for the caller to store. */
  takeNew(): readonly LevelChange[] {
    const added = this.#changes.slice(this.#newFrom);
    this.#newFrom = this.#changes.length;
    return added;
  }
}
