// Topics for tests of tasks that are stopped and started again.
import type { EventCause } from '../event-cause.ts';
import { Inhibitions } from '../inhibitions.ts';
import { rememberedState } from '../remembered-state.ts';
import type { RememberedState } from '../remembered-state.ts';
import type { AlertEvent, AlertSink } from '../services.ts';

type Published = { readonly topic: string; readonly event: AlertEvent };

/** Outlives tasks: keeps the published events, and the last state of each event. */
export class RememberingTopics implements AlertSink {
  readonly inhibitions = new Inhibitions();
  #published: Published[] = [];
  readonly #states = new Map<string, RememberedState>();
  readonly #causes = new Map<string, EventCause>();

  get published(): readonly Published[] {
    return this.#published;
  }

  /** A line per published event. */
  get events(): readonly string[] {
    return this.#published.map(
      ({ topic, event: { id, level, time, durationNanos } }) =>
        `${topic} ${id} ${level} ${time} ${durationNanos}`,
    );
  }

  /** Drops the newest events, and everything stored with them or after. */
  lose(count: number): void {
    let left = this.#published.length - count;
    const { cause } = this.#published[left]?.event ?? {};
    while (left > 0 && isSame(cause, this.#published[left - 1]?.event.cause)) left--;
    const kept = this.#published.slice(0, left);
    this.#published = [];
    this.#states.clear();
    this.#causes.clear();
    for (const { topic, event } of kept) this.publish(topic, event);
  }

  /** As if a version without causes had stored the events. */
  forgetCauses(): void {
    this.#causes.clear();
    for (const [key, { record: _, ...state }] of this.#states) this.#states.set(key, state);
  }

  openAnonymousTopic(): void {}
  closeAnonymousTopic(): void {}
  openTopic(): void {}
  publish(topic: string, event: AlertEvent): void {
    this.#published.push({ topic, event });
    this.updateEvent(topic, event);
    if (event.cause !== undefined) this.#causes.set(event.cause.unit, event.cause);
  }
  eventState(topic: string, id: string): RememberedState | undefined {
    return this.#states.get(`${topic}/${id}`);
  }
  updateEvent(topic: string, event: AlertEvent): void {
    this.#states.set(`${topic}/${event.id}`, rememberedState(event));
  }
  lastCause(unit: string): EventCause | undefined {
    return this.#causes.get(unit);
  }
}

/** Everything that a row causes is stored together. */
function isSame(a: EventCause | undefined, b: EventCause | undefined): boolean {
  return a !== undefined && a.record === b?.record && a.row === b.row;
}
