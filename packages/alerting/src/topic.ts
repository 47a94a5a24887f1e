// One topic in memory: level and times of each event id in columns, counted by level so that the topic's own level is
// O(1). Message and details are held only until they are on disk, where they are read when somebody asks; an event that
// nobody looks at costs its id, one map entry and 17 bytes.
import type { AlertEvent, AlertLevelName } from '@tidemark/runtime';
import type { EventState, EventSummary, EventTexts, TopicEvent } from './event.ts';
import { LEVELS, levelRank } from './level.ts';

/** Reads texts that a topic no longer holds itself. */
export type ReadTexts = (topic: string, id: string) => EventTexts | undefined;

/** Which events of a topic to list, and which part of that list. */
export type EventFilter = {
  readonly minLevel: AlertLevelName;
  readonly matches?: ((id: string) => boolean) | undefined;
  readonly offset?: number | undefined;
  /** Default: all. */
  readonly limit?: number | undefined;
};

const FIRST_CAPACITY = 8;
const NO_TEXTS: EventTexts = { message: '', details: '' };

/** States of event ids and how many events the topic has seen. Knows nothing of handlers. */
export class Topic {
  readonly id: string;
  readonly #readTexts: ReadTexts;
  readonly #slots = new Map<string, number>();
  /** Texts by slot that are not on disk, or not yet. */
  readonly #texts = new Map<number, EventTexts>();
  readonly #countByLevel = [0, 0, 0, 0];
  #ranks = new Uint8Array(FIRST_CAPACITY);
  #times = new BigInt64Array(FIRST_CAPACITY);
  #durations = new BigInt64Array(FIRST_CAPACITY);
  /** Ids in order, and those that came since and are not in order yet. */
  #sorted: string[] = [];
  #added: string[] = [];
  #collected = 0;

  constructor(id: string, readTexts: ReadTexts = () => undefined) {
    this.id = id;
    this.#readTexts = readTexts;
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
    return this.#slots.size;
  }

  event(id: string): EventState | undefined {
    const slot = this.#slots.get(id);
    return slot === undefined ? undefined : this.#state(id, slot);
  }

  /** Level and times of an event, without its texts. */
  summary(id: string): EventSummary | undefined {
    const slot = this.#slots.get(id);
    return slot === undefined ? undefined : this.#summary(slot);
  }

  *summaries(): Iterable<readonly [string, EventSummary]> {
    for (const [id, slot] of this.#slots) yield [id, this.#summary(slot)];
  }

  /** Events at or above a level, in order of their ids. */
  events(filter: EventFilter): readonly (readonly [string, EventState])[] {
    const floor = levelRank(filter.minLevel);
    const limit = filter.limit ?? Number.POSITIVE_INFINITY;
    let toSkip = filter.offset ?? 0;
    const found: (readonly [string, EventState])[] = [];
    for (const id of this.#inOrder()) {
      if (found.length >= limit) break;
      const slot = this.#slots.get(id) ?? 0;
      if ((this.#ranks[slot] ?? 0) < floor) continue;
      if (filter.matches !== undefined && !filter.matches(id)) continue;
      if (toSkip-- > 0) continue;
      found.push([id, this.#state(id, slot)]);
    }
    return found;
  }

  /** Remembers a state without counting it as collected. Its texts stay in memory until `settle`. */
  set(id: string, state: EventState): EventTexts {
    const slot = this.#put(id, state);
    const texts: EventTexts = { message: state.message, details: state.details };
    this.#texts.set(slot, texts);
    return texts;
  }

  /** Remembers what was read from the disk; the texts are there. */
  load(id: string, state: EventSummary): void {
    this.#put(id, state);
  }

  /** Texts that `set` returned are on disk now; newer ones stay. */
  settle(id: string, texts: EventTexts): void {
    const slot = this.#slots.get(id);
    if (slot !== undefined && this.#texts.get(slot) === texts) this.#texts.delete(slot);
  }

  /**
   * Takes an event: remembers it, counts it, and returns it with the level its id had before. An id that is new here
   * and comes from another topic brings the level it had there.
   */
  collect(
    event: AlertEvent,
    source?: TopicEvent,
  ): { readonly event: TopicEvent; readonly texts: EventTexts } {
    const previousLevel = this.summary(event.id)?.level ?? source?.previousLevel ?? 'OK';
    const texts = this.set(event.id, event);
    this.#collected++;
    const hops = source === undefined ? 0 : source.hops + 1;
    return {
      // Written out because a spread of so many properties shows in the profile of many state changes.
      event: {
        id: event.id,
        message: event.message,
        details: event.details,
        time: event.time,
        durationNanos: event.durationNanos,
        level: event.level,
        isRecoverable: event.isRecoverable,
        data: event.data,
        context: event.context,
        topic: this.id,
        previousLevel,
        hops,
      },
      texts,
    };
  }

  #put(id: string, { level, time, durationNanos }: EventSummary): number {
    let slot = this.#slots.get(id);
    if (slot === undefined) {
      slot = this.#slots.size;
      if (slot === this.#ranks.length) this.#grow();
      this.#slots.set(id, slot);
      this.#added.push(id);
    } else {
      this.#count(this.#ranks[slot] ?? 0, -1);
    }
    const rank = levelRank(level);
    this.#count(rank, 1);
    this.#ranks[slot] = rank;
    this.#times[slot] = time;
    this.#durations[slot] = durationNanos;
    return slot;
  }

  #summary(slot: number): EventSummary {
    return {
      level: LEVELS[this.#ranks[slot] ?? 0] ?? 'OK',
      time: this.#times[slot] ?? 0n,
      durationNanos: this.#durations[slot] ?? 0n,
    };
  }

  #state(id: string, slot: number): EventState {
    const { message, details } = this.#texts.get(slot) ?? this.#readTexts(this.id, id) ?? NO_TEXTS;
    return { message, details, ...this.#summary(slot) };
  }

  // Sorting all ids for each list would cost 100 ms with 100,000 of them; only what is new is sorted, then merged.
  #inOrder(): readonly string[] {
    if (this.#added.length === 0) return this.#sorted;
    const added = this.#added.sort(byText);
    this.#added = [];
    const before = this.#sorted;
    const merged: string[] = [];
    let i = 0;
    for (const id of added) {
      for (let next = before[i]; next !== undefined && next < id; next = before[++i]) {
        merged.push(next);
      }
      merged.push(id);
    }
    while (i < before.length) merged.push(before[i++] as string);
    this.#sorted = merged;
    return merged;
  }

  #grow(): void {
    const capacity = this.#ranks.length * 2;
    const ranks = new Uint8Array(capacity);
    const times = new BigInt64Array(capacity);
    const durations = new BigInt64Array(capacity);
    ranks.set(this.#ranks);
    times.set(this.#times);
    durations.set(this.#durations);
    this.#ranks = ranks;
    this.#times = times;
    this.#durations = durations;
  }

  #count(rank: number, by: number): void {
    this.#countByLevel[rank] = (this.#countByLevel[rank] ?? 0) + by;
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
