// A handler's chain of actions: filters and deliveries, each gets what the one before passed on.
import { formatClockDuration, messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { resolveSecrets } from '@tidemark/settings';
import type { OptionTable, Options, OptionsOf } from '@tidemark/settings';
import type { Delivery, ChainStep, StepResult } from './delivery.ts';
import type { OutboxEntry } from './alert-store.ts';
import type { TopicEvent } from './event.ts';
import type { HandlerContext, HandlerKind } from './handler.ts';
import { aggregate, stateChangesOnly, throttle } from './handlers/flow.ts';
import { levelRank } from './level.ts';

/** An action whose options have been checked. */
export type CheckedAction<Table extends OptionTable = OptionTable> = {
  readonly kind: HandlerKind<Table>;
  readonly options: OptionsOf<Table>;
};

const PASS: StepResult = { kind: 'pass' };
const STOP: StepResult = { kind: 'stop' };
const HOLD: StepResult = { kind: 'hold' };

/**
 * Makes the step that executes an action; three kinds act on the chain itself instead of on the
 * outside.
 */
export function makeStep(
  action: CheckedAction,
  index: number,
  delivery: Delivery,
  context: Omit<HandlerContext, 'signal'>,
): ChainStep {
  if (isOf(action, throttle)) return throttleStep(action.options, context.clock);
  if (isOf(action, aggregate)) return new AggregateStep(action.options, index, delivery, context);
  if (action.kind === stateChangesOnly) {
    return {
      isLocal: true,
      run: ({ event }) => Promise.resolve(event.level === event.previousLevel ? STOP : PASS),
    };
  }
  return {
    run: async ({ event }, signal) => {
      await action.kind.send(event, liveOptions(action, context), { ...context, signal });
      return PASS;
    },
  };
}

function isOf<Table extends OptionTable>(
  action: CheckedAction,
  kind: HandlerKind<Table>,
): action is CheckedAction<Table> {
  return action.kind === kind;
}

// Looked up for every event, so that a secret may be changed where it is kept.
function liveOptions(
  { kind, options }: CheckedAction,
  context: Omit<HandlerContext, 'signal'>,
): Options {
  try {
    return resolveSecrets(kind.options, options, context.resolveSecret);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Unavailable(reason, { cause });
  }
}

// Event ids that a throttle remembers; the oldest is forgotten first, which at worst lets one event
// too many pass.
const THROTTLED_IDS_MAX = 10_000;

function throttleStep(
  { interval, count: countMax }: OptionsOf<typeof throttle.options>,
  clock: Clock,
): ChainStep {
  const windows = new Map<string, { start: bigint; count: number }>();
  return {
    isLocal: true,
    run: ({ event }) => {
      const now = clock.now();
      const window = windows.get(event.id);
      if (window !== undefined && now - window.start < interval) {
        window.count++;
        return Promise.resolve(window.count > countMax ? STOP : PASS);
      }
      windows.delete(event.id);
      windows.set(event.id, { start: now, count: 1 });
      if (windows.size > THROTTLED_IDS_MAX) {
        for (const oldest of windows.keys()) {
          windows.delete(oldest);
          break;
        }
      }
      return Promise.resolve(PASS);
    },
  };
}

/**
 * Collects events and passes one combined event per interval. Collected events stay in the outbox
 * until then.
 */
class AggregateStep implements ChainStep {
  readonly isLocal = true;
  readonly #options: OptionsOf<typeof aggregate.options>;
  readonly #index: number;
  readonly #delivery: Delivery;
  readonly #context: Omit<HandlerContext, 'signal'>;
  readonly #stopped = new AbortController();
  readonly #startedMs: number;
  #held: OutboxEntry[] = [];

  constructor(
    options: OptionsOf<typeof aggregate.options>,
    index: number,
    delivery: Delivery,
    context: Omit<HandlerContext, 'signal'>,
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
      // Stopped: what was collected is still in the outbox and is collected again after the
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
