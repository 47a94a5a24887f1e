// Topics for tests of tasks that are stopped and started again.
import type { AlertEvent, AlertSink } from '../services.ts';

/** Outlive tasks: what was published, and the last state of each event. */
export class RememberingTopics implements AlertSink {
  /** A line per event that was published. */
  readonly events: string[] = [];
  readonly #states = new Map<string, AlertEvent>();
  openAnonymousTopic(): void {}
  closeAnonymousTopic(): void {}
  openTopic(): void {}
  publish(topic: string, event: AlertEvent): void {
    this.events.push(`${topic} ${event.id} ${event.level} ${event.time} ${event.durationNanos}`);
    this.#states.set(`${topic}/${event.id}`, event);
  }
  eventState(topic: string, id: string): AlertEvent | undefined {
    return this.#states.get(`${topic}/${id}`);
  }
  updateEvent(topic: string, event: AlertEvent): void {
    this.#states.set(`${topic}/${event.id}`, event);
  }
}
