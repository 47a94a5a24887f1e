// One topic in memory: a record for each event id (`event-records.ts`), counted by level so that
// the topic's own level is O(1). Message and details are held only until they are on disk, and read
// from there on demand; an event that is not being read costs its id, one map entry and 50 bytes.
import type { AlertEvent, AlertLevelName, StateSource } from '@tidemark/runtime';
import type { EventState, EventSummary, EventTexts, TopicEvent } from './event.ts';
import { EventRecords } from './event-records.ts';
import { LEVELS, levelRank } from './level.ts';
import { OrderedSlots } from './ordered-slots.ts';

/** Reads texts that a topic no longer holds itself. */
export type ReadTexts = (topic: string, id: string) => EventTexts | undefined;

/** Selects events of a topic, and a part of their list. */
export type EventFilter = {
  readonly minLevel: AlertLevelName;
  readonly matches?: ((id: string) => boolean) | undefined;
  readonly offset?: number | undefined;
  /** Default: all. */
  readonly limit?: number | undefined;
};

/** A part of a topic's events, and the numbers of all that match. */
export type SevereEvents = {
  readonly total: number;
  readonly levels: ReadonlyMap<AlertLevelName, number>;
  readonly events: readonly (readonly [id: string, state: EventState])[];
};

/** Texts that are in memory until they are on disk. */
export type UnstoredTexts = EventTexts & { readonly slot: number };

const NO_TEXTS: EventTexts = { message: '', details: '' };

/** States of event ids and the number of events in the topic. Does not depend on handlers. */
export class Topic {
  readonly id: string;
  readonly #readTexts: ReadTexts;
  readonly #slots = new Map<string, number>();
  /** Texts by slot that are not on disk yet, or never. */
  readonly #texts = new Map<number, UnstoredTexts>();
  readonly #countByLevel = [0, 0, 0, 0];
  readonly #records = new EventRecords();
  readonly #ids: string[] = [];
  readonly #order = new OrderedSlots((slot) => this.#ids[slot] ?? '');
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
    return slot === undefined ? undefined : this.#records.read(slot);
  }

  *summaries(): Iterable<readonly [string, EventSummary]> {
    for (const [id, slot] of this.#slots) yield [id, this.#records.read(slot)];
  }

  /** Events at or above a level, in order of their ids. */
  events(filter: EventFilter): readonly (readonly [string, EventState])[] {
    const { matches, limit = Number.POSITIVE_INFINITY } = filter;
    const floor = levelRank(filter.minLevel);
    let toSkip = filter.offset ?? 0;
    // The number of events at or above the level: after the last of them the search can end.
    let toSee = this.#countByLevel.slice(floor).reduce((sum, count) => sum + count, 0);
    const found: (readonly [string, EventState])[] = [];
    for (const block of this.#order.blocks) {
      for (const slot of block) {
        if (found.length >= limit || toSee === 0) return found;
        if (this.#records.rank(slot) < floor) continue;
        toSee--;
        const id = this.#ids[slot] ?? '';
        if (matches !== undefined && !matches(id)) continue;
        if (toSkip-- > 0) continue;
        found.push([id, this.#state(id, slot)]);
      }
    }
    return found;
  }

  /**
   * Events at or above a level, the most severe first and of one level the newest first, with the
   * numbers of all that match.
   */
  mostSevere(filter: EventFilter): SevereEvents {
    const { minLevel, matches, offset = 0, limit = Number.POSITIVE_INFINITY } = filter;
    const floor = levelRank(minLevel);
    const byRank: number[][] = LEVELS.map(() => []);
    for (const [id, slot] of this.#slots) {
      const rank = this.#records.rank(slot);
      if (rank >= floor && matches?.(id) !== false) byRank[rank]?.push(slot);
    }
    const newestFirst = (a: number, b: number): number =>
      this.#records.approximateTime(b) - this.#records.approximateTime(a);
    const slots = byRank.toReversed().flatMap((same) => same.sort(newestFirst));
    return {
      total: slots.length,
      levels: new Map(LEVELS.map((level, rank) => [level, byRank[rank]?.length ?? 0])),
      events: slots.slice(offset, offset + limit).map((slot) => {
        const id = this.#ids[slot] ?? '';
        return [id, this.#state(id, slot)] as const;
      }),
    };
  }

  /** Sets a state without counting it as collected. Its texts stay in memory until `settle`. */
  set(id: string, state: EventState): UnstoredTexts {
    return this.#hold(this.#put(id, state), state);
  }

  /** Sets a state that was read from disk, where its texts are. */
  load(id: string, state: EventSummary): void {
    this.#put(id, state);
  }

  /** The texts returned by `set` are on disk now; newer ones stay. */
  settle(held: UnstoredTexts): void {
    if (this.#texts.get(held.slot) === held) this.#texts.delete(held.slot);
  }

  /**
   * Takes an event: stores and counts it, and returns it with the previous level of its id. An id
   * that is new here and comes from another topic brings its level from there.
   */
  collect(
    event: AlertEvent,
    source?: TopicEvent,
  ): { readonly event: TopicEvent; readonly texts: UnstoredTexts } {
    // Looked up once: with many ids that are not in the processor's caches, look-ups are the main
    // cost.
    const known = this.#slots.get(event.id);
    const previousLevel =
      known === undefined
        ? (source?.previousLevel ?? 'OK')
        : (LEVELS[this.#records.rank(known)] ?? 'OK');
    const texts = this.#hold(this.#put(event.id, event, known), event);
    this.#collected++;
    const hops = source === undefined ? 0 : source.hops + 1;
    return {
      // Written out because a spread of so many properties shows in the profile of many state
      // changes.
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
        cause: event.cause,
        topic: this.id,
        previousLevel,
        hops,
      },
      texts,
    };
  }

  #hold(slot: number, { message, details }: EventTexts): UnstoredTexts {
    const texts: UnstoredTexts = { slot, message, details };
    this.#texts.set(slot, texts);
    return texts;
  }

  #put(id: string, source: StateSource, known = this.#slots.get(id)): number {
    let slot = known;
    if (slot === undefined) {
      slot = this.#slots.size;
      this.#slots.set(id, slot);
      this.#ids.push(id);
      this.#order.add(slot);
    } else {
      this.#count(this.#records.rank(slot), -1);
    }
    this.#records.write(slot, source);
    this.#count(this.#records.rank(slot), 1);
    return slot;
  }

  #state(id: string, slot: number): EventState {
    const { message, details } = this.#texts.get(slot) ?? this.#readTexts(this.id, id) ?? NO_TEXTS;
    return { message, details, ...this.#records.read(slot) };
  }

  #count(rank: number, by: number): void {
    this.#countByLevel[rank] = (this.#countByLevel[rank] ?? 0) + by;
  }
}
