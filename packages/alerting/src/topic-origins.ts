// The databases that the events of a topic come from: those of every task and replay that has
// published to it, and those of topics whose handlers passed events on. A user needs the right to
// read these databases to read the events. A deleted topic keeps its origins, because tasks
// continue to publish to it.
import type { AlertStore } from './alert-store.ts';

export class TopicOrigins {
  readonly #store: AlertStore;
  readonly #databases = new Map<string, ReadonlySet<string>>();

  constructor(store: AlertStore) {
    this.#store = store;
    for (const { topic, databases } of store.origins())
      this.#databases.set(topic, new Set(databases));
  }

  /** `undefined` if unknown: the events were published by an earlier version. */
  of(topic: string): ReadonlySet<string> | undefined {
    return this.#databases.get(topic);
  }

  /**
   * Adds databases to those of topics. Called before an event comes from there: they are on disk
   * with the event at the latest, whose state is in the same transaction or a later one.
   */
  add(topics: readonly string[], databases: Iterable<string>): void {
    const added = [...databases];
    for (const topic of topics) {
      const known = this.#databases.get(topic) ?? new Set();
      if (added.every((name) => known.has(name))) continue;
      const all = new Set([...known, ...added]);
      this.#databases.set(topic, all);
      this.#store.putOrigins(topic, [...all]);
    }
  }

  /** Events of one topic are passed to another one. */
  pass(from: string, to: string): void {
    const databases = this.#databases.get(from);
    this.add([to], databases ?? [UNKNOWN_ORIGIN]);
  }

  /** The task or replay of the topic is gone. */
  forget(topic: string): void {
    if (this.#databases.delete(topic)) this.#store.deleteOrigins(topic);
  }
}

/** No database has this name. */
export const UNKNOWN_ORIGIN = '';
