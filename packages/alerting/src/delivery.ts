// Delivery of one handler's events: a bounded queue, one event at a time, in order. An event that fails is repeated
// with growing delays; meanwhile only later events of the same id wait behind it. What was not delivered stays in the
// store's outbox and is taken up again after a restart.
import { AppError, assert, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { AlertStore, OutboxEntry } from './alert-store.ts';
import type { TopicEvent } from './event.ts';
import { RETRY_COUNT, RETRY_DELAY_FIRST, RETRY_DELAY_MAX, SEND_TIMEOUT } from './limits.ts';

/** What one action of a handler makes of an event. */
export type StepResult =
  /** The event goes on to the next action. */
  | { readonly kind: 'pass' }
  /** The chain ends here for this event. */
  | { readonly kind: 'stop' }
  /** The action keeps the event; it will call `release` with what takes its place. */
  | { readonly kind: 'hold' };

/** One action of a handler's chain. */
export interface ChainStep {
  run(entry: OutboxEntry, signal: AbortSignal): Promise<StepResult>;
  /** Ends timers and connections of this step. */
  close?(): void;
}

export type DeliveryReport = (level: 'warn' | 'error', message: string, event: TopicEvent) => void;

/** What operators see of a handler. */
export type DeliveryState = {
  readonly delivered: number;
  readonly failed: number;
  readonly refused: number;
  readonly waiting: number;
  readonly lastError: string | undefined;
};

export type DeliveryOptions = {
  readonly handlerKey: string;
  readonly store: AlertStore;
  readonly clock: Clock;
  readonly queueLength: number;
  readonly report: DeliveryReport;
  /** Spreads retries; between 0 and 1. */
  readonly random: () => number;
};

type Waiting = OutboxEntry & { attempts: number };

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #steps: readonly ChainStep[];
  readonly #ready: Waiting[] = [];
  /** Entries per event id that wait for a retry of the first of them. */
  readonly #parked = new Map<string, Waiting[]>();
  readonly #stopped = new AbortController();
  /** What was being delivered when the handler was stopped. */
  readonly #interrupted: Waiting[] = [];
  #head = 0;
  #isRunning = false;
  #isAccepting = true;
  #idle: Promise<void> = Promise.resolve();
  #delivered = 0;
  #failed = 0;
  #refused = 0;
  #lastError: string | undefined;

  /** `makeSteps` gets the delivery, so that a step that holds events can give them back with `release`. */
  constructor(options: DeliveryOptions, makeSteps: (delivery: Delivery) => readonly ChainStep[]) {
    this.#options = options;
    this.#steps = makeSteps(this);
    assert(this.#steps.length > 0, 'a handler has at least one action');
  }

  get state(): DeliveryState {
    return {
      delivered: this.#delivered,
      failed: this.#failed,
      refused: this.#refused,
      waiting: this.#waitingCount(),
      lastError: this.#lastError,
    };
  }

  /** Takes an event. A full queue refuses it: the event is counted, reported and kept as a dead letter. */
  accept(event: TopicEvent): void {
    if (!this.#isAccepting) return;
    const { store, handlerKey, queueLength, clock, report } = this.#options;
    const entry = store.append(handlerKey, event, 0);
    if (this.#waitingCount() >= queueLength) {
      this.#refused++;
      const reason = `failed to deliver event ${JSON.stringify(event.id)} to handler: queue is full`;
      store.bury(entry, reason, clock.now());
      report('error', reason, event);
      return;
    }
    this.#push(entry);
  }

  /** Takes up entries that an earlier run or an earlier definition of the handler left in the outbox. */
  adopt(entries: readonly OutboxEntry[]): void {
    const { store, handlerKey } = this.#options;
    for (const entry of entries) {
      if (entry.handlerKey === handlerKey) {
        this.#push({ ...entry, step: Math.min(entry.step, this.#steps.length - 1) });
      } else {
        this.#push(store.append(handlerKey, entry.event, 0));
        store.remove([entry.sequence]);
      }
    }
  }

  /** Lets `event` go on after the step that held the given entries; they are done with it. */
  release(held: readonly OutboxEntry[], event: TopicEvent | undefined, nextStep: number): void {
    const { store, handlerKey } = this.#options;
    if (event !== undefined && nextStep < this.#steps.length) {
      this.#push(store.append(handlerKey, event, nextStep));
    }
    store.remove(held.map((entry) => entry.sequence));
    this.#delivered += held.length;
  }

  /** Resolves when nothing is left that can be delivered now; retries that wait for their time stay in the outbox. */
  async drained(): Promise<void> {
    while (this.#isRunning) await this.#idle;
  }

  /** Takes no more events, delivers what is ready within the deadline, returns what it leaves in the outbox. */
  async close(deadlineMs: number): Promise<readonly OutboxEntry[]> {
    this.#isAccepting = false;
    await this.#drainWithin(deadlineMs);
    const waiting = [...this.#ready.slice(this.#head), ...[...this.#parked.values()].flat()];
    this.#stop();
    await this.drained();
    const left = [...this.#interrupted, ...waiting].sort((a, b) => a.sequence - b.sequence);
    return left.map(({ sequence, handlerKey, event, step }) => ({
      sequence,
      handlerKey,
      event,
      step,
    }));
  }

  /** Takes no more events, delivers what is ready within the deadline, drops everything that still waits. */
  async discard(deadlineMs: number): Promise<void> {
    const left = await this.close(deadlineMs);
    this.#options.store.remove(left.map((entry) => entry.sequence));
  }

  async #drainWithin(deadlineMs: number): Promise<void> {
    if (!this.#isRunning || deadlineMs <= 0) return;
    const timer = new AbortController();
    const expired = this.#options.clock.sleep(deadlineMs, timer.signal).catch(() => {
      // Drained in time.
    });
    await Promise.race([this.drained(), expired]);
    timer.abort();
  }

  #stop(): void {
    this.#stopped.abort(new Unavailable('handler is stopped'));
    this.#ready.length = 0;
    this.#head = 0;
    this.#parked.clear();
    for (const step of this.#steps) step.close?.();
  }

  #waitingCount(): number {
    let count = this.#ready.length - this.#head;
    for (const lane of this.#parked.values()) count += lane.length;
    return count;
  }

  #push(entry: OutboxEntry): void {
    this.#ready.push({ ...entry, attempts: 0 });
    this.#start();
  }

  #start(): void {
    if (this.#isRunning || this.#stopped.signal.aborted) return;
    this.#isRunning = true;
    this.#idle = this.#run().finally(() => {
      this.#isRunning = false;
      if (this.#head < this.#ready.length) this.#start();
    });
  }

  async #run(): Promise<void> {
    while (this.#head < this.#ready.length) {
      const entry = this.#ready[this.#head++];
      if (entry === undefined) break;
      if (this.#head === this.#ready.length) {
        this.#ready.length = 0;
        this.#head = 0;
      }
      const lane = this.#parked.get(entry.event.id);
      if (lane === undefined) await this.#deliver(entry);
      else lane.push(entry);
    }
  }

  async #deliver(entry: Waiting): Promise<void> {
    const { store } = this.#options;
    try {
      for (let step = entry.step; step < this.#steps.length; step++) {
        const result = await this.#runStep(step, entry);
        if (result.kind === 'hold') return;
        if (result.kind === 'stop') break;
      }
    } catch (error) {
      // Whatever a handler throws is that event's failure, never the service's.
      if (this.#stopped.signal.aborted) this.#interrupted.push(entry);
      else this.#fail(entry, error);
      return;
    }
    store.remove([entry.sequence]);
    this.#delivered++;
  }

  async #runStep(step: number, entry: Waiting): Promise<StepResult> {
    const action = this.#steps[step];
    assert(action !== undefined, 'the step exists');
    const deadline = new AbortController();
    const timer = new AbortController();
    const signal = AbortSignal.any([this.#stopped.signal, deadline.signal]);
    this.#options.clock.sleep(SEND_TIMEOUT.value, timer.signal).then(
      () => deadline.abort(new Unavailable(`no success within ${SEND_TIMEOUT.value} ms`)),
      // The timer was cancelled because the action ended in time.
      () => undefined,
    );
    try {
      return await Promise.race([action.run({ ...entry, step }, signal), rejectOnAbort(signal)]);
    } catch (error) {
      // The step that failed is the one to repeat; earlier actions of the chain are done.
      entry.attempts++;
      Object.assign(entry, { step });
      throw error;
    } finally {
      timer.abort();
    }
  }

  #fail(entry: Waiting, error: unknown): void {
    const { store, clock, report } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    this.#lastError = reason;
    if (error instanceof Unavailable && entry.attempts <= RETRY_COUNT.value) {
      report('warn', `failed to send event, will be repeated: ${reason}`, entry.event);
      this.#park(entry);
      return;
    }
    this.#failed++;
    const isExpected = error instanceof AppError;
    report('error', `failed to send event: ${isExpected ? reason : String(error)}`, entry.event);
    store.bury(entry, reason, clock.now());
  }

  #park(entry: Waiting): void {
    this.#parked.set(entry.event.id, [entry]);
    const { clock, random } = this.#options;
    const base = Math.min(
      RETRY_DELAY_MAX.value,
      RETRY_DELAY_FIRST.value * 2 ** (entry.attempts - 1),
    );
    const delayMs = base * (0.75 + random() / 2);
    clock.sleep(delayMs, this.#stopped.signal).then(
      () => {
        const lane = this.#parked.get(entry.event.id) ?? [];
        this.#parked.delete(entry.event.id);
        this.#ready.splice(this.#head, 0, ...lane);
        this.#start();
      },
      // Stopped: the entry stays in the outbox for the next run.
      () => undefined,
    );
  }
}

// Actions are asked to obey the signal, but one that does not must not hold up the queue either.
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
