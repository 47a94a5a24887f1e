// One topic in memory: the last state of each event id, counted by level so that the topic's own level is O(1).
import type { AlertEvent, AlertLevelName } from '@tidemark/runtime';
import type { EventState, TopicEvent } from './event.ts';
import { stateOf } from './event.ts';
import { LEVELS, levelRank } from './level.ts';

/** States of event ids and how many events the topic has seen. Knows nothing of handlers and disks. */
export class Topic {
  readonly id: string;
  readonly #events = new Map<string, EventState>();
  readonly #countByLevel = [0, 0, 0, 0];
  #collected = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** The highest level of all events; OK when there are none. */
  get level(): AlertLevelName {
    for (let rank = LEVELS.length - 1; rank > 0; rank--) {
      if ((this.#countByLevel[rank] ?? 0) > 0) return LEVELS[rank] ?? 'OK';
    }
    return 'OK';
  }

  /** All events that were published here since the topic was created, OK ones included. */
  get collected(): number {
    return this.#collected;
  }

  get eventCount(): number {
    return this.#events.size;
  }

  event(id: string): EventState | undefined {
    return this.#events.get(id);
  }

  /** Events at or above a level, in order of their ids. */
  events(minLevel: AlertLevelName): readonly (readonly [string, EventState])[] {
    const floor = levelRank(minLevel);
    const found = [...this.#events].filter(([, state]) => levelRank(state.level) >= floor);
    return found.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  }

  /** Remembers a state without counting it as collected. */
  set(id: string, state: EventState): void {
    const before = this.#events.get(id);
    if (before !== undefined) this.#count(before.level, -1);
    this.#count(state.level, 1);
    this.#events.set(id, state);
  }

  /**
   * Takes an event: remembers it, counts it, and returns it with the level its id had before. An id that is new here
   * and comes from another topic brings the level it had there.
   */
  collect(event: AlertEvent, source?: TopicEvent): TopicEvent {
    const previousLevel = this.#events.get(event.id)?.level ?? source?.previousLevel ?? 'OK';
    this.set(event.id, stateOf(event));
    this.#collected++;
    const hops = source === undefined ? 0 : source.hops + 1;
    return { ...event, topic: this.id, previousLevel, hops };
  }

  #count(level: AlertLevelName, by: number): void {
    const rank = levelRank(level);
    this.#countByLevel[rank] = (this.#countByLevel[rank] ?? 0) + by;
  }
}
