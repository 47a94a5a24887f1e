// The history of level changes, for timelines of alerts. Topics store only the current state.
import type { Timestamp } from '@tidemark/core';
import type { AlertEvent, AlertLevelName } from '@tidemark/runtime';
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
  /** Where the event came from; changes stored by earlier versions do not have it. */
  readonly task?: string | undefined;
  readonly measurement?: string | undefined;
  /** The tags of the group; empty for a task that does not group. */
  readonly group?: Readonly<Record<string, string>> | undefined;
};

/** Where an event came from, for its change of level. */
export function originOf({
  context: { taskName, name, tags, group },
}: Pick<AlertEvent, 'context'>): Pick<LevelChange, 'task' | 'measurement' | 'group'> {
  // `host=a,cpu=b`, after the measurement and a line break where it is part of the group.
  const parts = `,${group.slice(group.indexOf('\n') + 1)},`;
  const inGroup = Object.entries(tags).filter(([key, value]) =>
    parts.includes(`,${key}=${value},`),
  );
  return { task: taskName, measurement: name, group: Object.fromEntries(inGroup) };
}

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
