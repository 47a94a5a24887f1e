// The topics that the tasks of one host publish to. The host has a copy of the remembered states of
// each, which the pool keeps up to date.
import type { RememberedState } from '../remembered-state.ts';
import { rememberedState } from '../remembered-state.ts';
import type { ToHostMessage } from './host-link.ts';

type States = Iterable<readonly [eventId: string, state: RememberedState]>;

export class HostTopics {
  readonly #send: (message: ToHostMessage) => void;
  /** The number of tasks of each topic. */
  readonly #counts = new Map<string, number>();

  constructor(send: (message: ToHostMessage) => void) {
    this.#send = send;
  }

  /** One more task publishes to the topic; its states are asked for only for the first. */
  add(topic: string, states: () => States): void {
    const count = this.#counts.get(topic) ?? 0;
    this.#counts.set(topic, count + 1);
    if (count > 0) return;
    const known = Array.from(states(), ([id, state]) => [id, rememberedState(state)] as const);
    this.#send({ kind: 'topic', topic, states: known });
  }

  /** One task less publishes to the topic. */
  remove(topic: string): void {
    const count = (this.#counts.get(topic) ?? 1) - 1;
    if (count > 0) {
      this.#counts.set(topic, count);
      return;
    }
    this.#counts.delete(topic);
    this.#send({ kind: 'topic-closed', topic });
  }

  /** Without an event id the whole topic is gone. */
  changed(topic: string, eventId: string | undefined, state: RememberedState | undefined): void {
    if (!this.#counts.has(topic)) return;
    this.#send({ kind: 'event-state', topic, eventId, state: state && rememberedState(state) });
  }
}
