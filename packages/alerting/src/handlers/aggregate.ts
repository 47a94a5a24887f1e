// aggregate: collects the events of an interval and passes one that combines them.
import { formatClockDuration } from '@tidemark/core';
import { aggregateHandler } from '@tidemark/pipeline';
import type { OptionsOf } from '@tidemark/settings';
import type { OutboxEntry } from '../alert-store.ts';
import { HOLD } from '../delivery.ts';
import type { ChainStep, StepResult } from '../delivery.ts';
import type { TopicEvent } from '../event.ts';
import { act } from '../handler.ts';
import type { StepPosition } from '../handler.ts';
import { levelRank } from '../level.ts';
import { requirePositive } from './intervals.ts';

export const aggregate = act(aggregateHandler, {
  validate: requirePositive,
  makeStep: (options, position) => new AggregateStep(options, position),
});

/**
 * Collects events and passes one combined event per interval. Collected events stay in the outbox
 * until then.
 */
class AggregateStep implements ChainStep {
  readonly isLocal = true;
  readonly closing = this;
  readonly #options: OptionsOf<typeof aggregateHandler.options>;
  readonly #index: number;
  readonly #delivery: StepPosition['delivery'];
  readonly #context: StepPosition['context'];
  readonly #stopped = new AbortController();
  readonly #startedMs: number;
  #held: OutboxEntry[] = [];

  constructor(
    options: OptionsOf<typeof aggregateHandler.options>,
    { index, delivery, context }: StepPosition,
  ) {
    this.#options = options;
    this.#index = index;
    this.#delivery = delivery;
    this.#context = context;
    this.#startedMs = context.clock.monotonicMs();
  }

  run(entry: OutboxEntry): Promise<StepResult> {
    this.#held.push(entry);
    if (this.#held.length === 1) this.#flushAtNextTick();
    return Promise.resolve(HOLD);
  }

  close(): void {
    this.#stopped.abort();
  }

  #flushAtNextTick(): void {
    const { clock } = this.#context;
    const intervalMs = Math.max(1, Number(this.#options.interval / 1_000_000n));
    const elapsedMs = clock.monotonicMs() - this.#startedMs;
    clock.sleep(intervalMs - (elapsedMs % intervalMs), this.#stopped.signal).then(
      () => this.#flush(),
      // Stopped: collected events are still in the outbox and are collected again after the
      // restart.
      () => undefined,
    );
  }

  #flush(): void {
    const held = this.#held;
    this.#held = [];
    const combined = this.#combine(held.map((entry) => entry.event));
    const topic = this.#options.topic;
    if (topic !== '') this.#context.publish(topic, combined);
    this.#delivery.release(held, combined, this.#index + 1);
  }

  #combine(events: readonly TopicEvent[]): TopicEvent {
    const last = events[events.length - 1] as TopicEvent;
    const highest = events.reduce(
      (a, b) => (levelRank(b.level) > levelRank(a.level) ? b : a),
      last,
    );
    const scope = {
      Count: events.length,
      Interval: formatClockDuration(this.#options.interval),
      ID: this.#options.id,
      Topic: last.topic,
    };
    return {
      ...last,
      id: this.#context.render(this.#options.id, scope),
      message: this.#context.render(this.#options.message, scope),
      details: events.map((event) => event.message).join('\n'),
      time: events.reduce((max, event) => (event.time > max ? event.time : max), last.time),
      durationNanos: events.reduce(
        (max, event) => (event.durationNanos > max ? event.durationNanos : max),
        last.durationNanos,
      ),
      level: highest.level,
      previousLevel: 'OK',
      isRecoverable: false,
      data: events.flatMap((event) => event.data),
    };
  }
}
