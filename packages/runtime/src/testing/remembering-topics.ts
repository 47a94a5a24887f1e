// Topics for tests of tasks that are stopped and started again.
import type { EventCause } from '../event-cause.ts';
import { Inhibitions } from '../inhibitions.ts';
import { rememberedState } from '../remembered-state.ts';
import type { RememberedState } from '../remembered-state.ts';
import type { AlertEvent, AlertSink } from '../services.ts';

type Published = { readonly topic: string; readonly event: AlertEvent };

/** Outlive tasks: what was published, and the last state of each event. */
export class RememberingTopics implements AlertSink {
  readonly inhibitions = new Inhibitions();
  #published: Published[] = [];
  readonly #states = new Map<string, RememberedState>();
  readonly #causes = new Map<string, EventCause>();

  get published(): readonly Published[] {
    return this.#published;
  }

  /** A line per event that was published. */
  get events(): readonly string[] {
    return this.#published.map(
      ({ topic, event: { id, level, time, durationNanos } }) =>
        `${topic} ${id} ${level} ${time} ${durationNanos}`,
    );
  }

  /** What the newest of these events was stored with, or after, was not stored. */
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

  /** As if a version had stored the events that knows of no causes. */
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

/** All that a row causes is stored together. */
function isSame(a: EventCause | undefined, b: EventCause | undefined): boolean {
  return a !== undefined && a.record === b?.record && a.row === b.row;
}
