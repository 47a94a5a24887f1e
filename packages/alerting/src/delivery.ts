// Delivers one handler's events: in order, one at a time, from the outbox. An event is sent only
// after it is on disk, and is removed after its delivery, so a crash at any moment causes at most a
// repetition. Memory holds a bounded part of the queue; the rest is read from disk when there is
// room. A failed event is retried with growing delays; meanwhile only later events of the same id
// wait.
import { AppError, assert, messageOf, Unavailable, within } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import type { AlertLevelName } from '@tidemark/runtime';
import type { AlertStore, OutboxEntry } from './alert-store.ts';
import type { TopicEvent } from './event.ts';
import {
  OUTBOX_LENGTH,
  RECENT_DELIVERIES,
  RETRY_COUNT,
  RETRY_DELAY_FIRST,
  RETRY_DELAY_MAX,
  SEND_TIMEOUT,
} from './limits.ts';

/** Why an instance of a cluster delivers nothing. */
export const NOT_LEADING = 'this instance does not lead the cluster any more';

/** The result of one action of a handler for an event. */
export type StepResult =
  /** The event continues with the next action. */
  | { readonly kind: 'pass' }
  /** The chain ends here for this event. */
  | { readonly kind: 'stop' }
  /** The action keeps the event, and later calls `release` with its replacement. */
  | { readonly kind: 'hold' };

export const PASS: StepResult = { kind: 'pass' };
export const STOP: StepResult = { kind: 'stop' };
export const HOLD: StepResult = { kind: 'hold' };

/** One action of a handler's chain. */
export interface ChainStep {
  /**
   * Only decides or collects: it has no effect outside and ends at once, so it needs no deadline.
   */
  readonly isLocal?: boolean | undefined;
  run(entry: OutboxEntry, signal: AbortSignal): Promise<StepResult>;
  /** Timers and connections that end with the handler, of steps that have any. */
  readonly closing?: { close(): void } | undefined;
}

export type DeliveryReport = (level: 'warn' | 'error', message: string, event: TopicEvent) => void;

/** A handler's state for operators. */
export type DeliveryState = {
  readonly delivered: number;
  /** Failed attempts that are retried. */
  readonly repeated: number;
  /** Events that could not be delivered. */
  readonly failed: number;
  readonly refused: number;
  readonly waiting: number;
  readonly lastError: string | undefined;
};

/** The outcome of an event. */
export type DeliveryNote = {
  readonly event: string;
  readonly level: AlertLevelName;
  readonly time: Timestamp;
  /**
   * `stopped`: an action of the chain held it back, for example because its level did not change.
   */
  readonly outcome: 'delivered' | 'stopped' | 'repeated' | 'failed';
  /** Why it was not delivered; '' when it was. */
  readonly reason: string;
};

export type DeliveryOptions = {
  readonly handlerKey: string;
  readonly store: AlertStore;
  readonly clock: Clock;
  /** Entries held in memory; more wait on disk. */
  readonly queueLength: number;
  readonly report: DeliveryReport;
  /** Spreads retries; between 0 and 1. */
  readonly random: () => number;
  /** Hides secrets in reasons that are shown and stored. */
  readonly redact?: ((text: string) => string) | undefined;
  /**
   * Called before each attempt that leaves the process: whether this process may deliver now.
   * Default: always.
   */
  readonly mayDeliver?: (() => boolean) | undefined;
  /** Ends when an earlier delivery of the same handler has released its entries. */
  readonly predecessor?: Promise<void> | undefined;
};

type Waiting = {
  readonly sequence: number;
  readonly handlerKey: string;
  readonly event: TopicEvent;
  step: number;
  attempts: number;
  /** Resolves when the entry is on disk; `undefined` when it is. */
  readonly stored: Promise<void> | undefined;
};

/** Entries of one event id that wait for a retry of the first of them. */
type Lane = {
  readonly entries: Waiting[];
  /** Ends the wait. */
  readonly wait: AbortController;
};

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #steps: readonly ChainStep[];
  readonly #ready: Waiting[] = [];
  readonly #parked = new Map<string, Lane>();
  readonly #stopped = new AbortController();
  /** The running action. */
  #attempt: AbortController | undefined;
  #head = 0;
  #parkedCount = 0;
  /** Number of entries that are only on disk. They come after everything in memory. */
  #onDiskCount = 0;
  /** Everything up to this sequence number is in memory or finished. */
  #takenThrough = 0;
  #lastStored: Promise<void> | undefined;
  #predecessor: Promise<void> | undefined;
  #isRunning = false;
  #isDelivering = false;
  #isAccepting = true;
  #idle: Promise<void> = Promise.resolve();
  #delivered = 0;
  #repeated = 0;
  #failed = 0;
  #refused = 0;
  #lastError: string | undefined;
  readonly #recent: DeliveryNote[] = [];

  /**
   * `makeSteps` gets the delivery, so that a step that holds events can return them with `release`.
   */
  constructor(options: DeliveryOptions, makeSteps: (delivery: Delivery) => readonly ChainStep[]) {
    this.#options = options;
    this.#steps = makeSteps(this);
    assert(this.#steps.length > 0, 'a handler has at least one action');
    this.#predecessor = options.predecessor;
    // Until the entries of a predecessor are known, new events wait after them on disk.
    const isFirst = options.predecessor === undefined;
    this.#onDiskCount = isFirst ? options.store.waitingCount(options.handlerKey) : 1;
    if (this.#onDiskCount > 0) this.#start();
  }

  get handlerKey(): string {
    return this.#options.handlerKey;
  }

  get state(): DeliveryState {
    return {
      delivered: this.#delivered,
      repeated: this.#repeated,
      failed: this.#failed,
      refused: this.#refused,
      waiting: this.#waitingCount(),
      lastError: this.#lastError,
    };
  }

  /** The last deliveries, newest first. */
  get recent(): readonly DeliveryNote[] {
    return this.#recent.toReversed();
  }

  /**
   * Whether there is room for an event. If not, it is counted, logged and lost: the outbox has a
   * limit too.
   */
  admits(event: TopicEvent): boolean {
    if (!this.#isAccepting) return false;
    if (this.#waitingCount() < OUTBOX_LENGTH.value) return true;
    this.#refused++;
    const reason = `failed to deliver event ${JSON.stringify(event.id)} to handler: outbox is full`;
    this.#lastError = reason;
    this.#options.report('error', reason, event);
    return false;
  }

  /**
   * Takes an entry that is being written to disk; entries come in order of their sequence numbers.
   */
  accept(entry: OutboxEntry, stored: Promise<void>): void {
    if (this.#onDiskCount > 0 || this.#inMemoryCount() >= this.#options.queueLength) {
      this.#onDiskCount++;
      this.#lastStored = stored.catch(() => undefined);
      this.#start();
      return;
    }
    const { sequence, handlerKey, event, step } = entry;
    this.#push({ sequence, handlerKey, event, step, attempts: 0, stored });
  }

  /** Continues with `event` after the step that held the given entries, which are finished. */
  release(held: readonly OutboxEntry[], event: TopicEvent | undefined, nextStep: number): void {
    const { store, handlerKey } = this.#options;
    const isGoingOn = event !== undefined && nextStep < this.#steps.length;
    const next = isGoingOn ? { handlerKey, event, step: nextStep } : undefined;
    const { entry, stored } = store.replace(held, next);
    this.#delivered += held.length;
    stored.catch((error: unknown) => this.#notStored(held[0]?.event, error));
    if (entry !== undefined) this.accept(entry, stored);
  }

  /**
   * Resolves when nothing is left to deliver now; retries that wait for their time stay in the
   * outbox.
   */
  async drained(): Promise<void> {
    while (this.#isRunning) await this.#idle;
  }

  /**
   * Accepts no more events and delivers ready ones within the deadline; the rest stays in the
   * outbox.
   */
  async close(deadlineMs: number): Promise<void> {
    this.#isAccepting = false;
    await this.#drainWithin(deadlineMs);
    this.#stop();
    await this.drained();
    await this.#options.store.stored?.catch((error: unknown) => {
      this.#notStored(undefined, error);
    });
  }

  /** Accepts no more events, delivers ready ones within the deadline, and drops the rest. */
  async discard(deadlineMs: number): Promise<void> {
    await this.close(deadlineMs);
    await this.#options.store.removeAll(this.#options.handlerKey);
  }

  async #drainWithin(deadlineMs: number): Promise<void> {
    if (!this.#isRunning || deadlineMs <= 0) return;
    await within(this.#options.clock, deadlineMs, this.drained());
  }

  #stop(): void {
    const reason = new Unavailable('handler is stopped');
    this.#stopped.abort(reason);
    this.#attempt?.abort(reason);
    this.#ready.length = 0;
    this.#head = 0;
    for (const { wait } of this.#parked.values()) wait.abort(reason);
    this.#parked.clear();
    this.#parkedCount = 0;
    for (const step of this.#steps) step.closing?.close();
  }

  #inMemoryCount(): number {
    return this.#ready.length - this.#head + this.#parkedCount;
  }

  #waitingCount(): number {
    return this.#inMemoryCount() + this.#onDiskCount + (this.#isDelivering ? 1 : 0);
  }

  #push(entry: Waiting): void {
    this.#ready.push(entry);
    this.#takenThrough = Math.max(this.#takenThrough, entry.sequence);
    this.#start();
  }

  #start(): void {
    if (this.#isRunning || this.#stopped.signal.aborted) return;
    if (!this.#hasWork()) return;
    this.#isRunning = true;
    this.#idle = this.#run().finally(() => {
      this.#isRunning = false;
      this.#start();
    });
  }

  #hasWork(): boolean {
    if (this.#head < this.#ready.length) return true;
    return this.#onDiskCount > 0 && this.#inMemoryCount() < this.#options.queueLength;
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted && this.#hasWork()) {
      const entry = this.#ready[this.#head];
      if (entry === undefined) {
        await this.#readBack();
        continue;
      }
      this.#head++;
      if (this.#head === this.#ready.length) {
        this.#ready.length = 0;
        this.#head = 0;
      }
      const lane = this.#parked.get(entry.event.id);
      if (lane === undefined) {
        this.#isDelivering = true;
        await this.#deliver(entry);
        this.#isDelivering = false;
      } else {
        lane.entries.push(entry);
        this.#parkedCount++;
      }
    }
  }

  /** Reads the next entries from disk, as many as there is room for. */
  async #readBack(): Promise<void> {
    const { store, handlerKey, queueLength } = this.#options;
    if (this.#predecessor !== undefined) await this.#succeed(this.#predecessor);
    // Events are still accepted while this waits; those up to here are on disk afterwards, and some
    // later ones.
    const through = store.lastSequence;
    const counted = this.#onDiskCount;
    await this.#lastStored;
    if (this.#stopped.signal.aborted) return;
    const room = Math.min(READ_BACK_COUNT, queueLength - this.#inMemoryCount());
    const entries = store.waiting(handlerKey, this.#takenThrough, room);
    const old = entries.filter(({ sequence }) => sequence <= through).length;
    // Fewer than counted when some could not be written; they were reported then.
    const left = entries.length < room ? 0 : counted - old;
    this.#onDiskCount = left + (this.#onDiskCount - counted) - (entries.length - old);
    for (const { sequence, event, step } of entries) {
      const nextStep = Math.min(step, this.#steps.length - 1);
      const entry = { sequence, handlerKey, event, step: nextStep, attempts: 0, stored: undefined };
      this.#push(entry);
    }
  }

  /** Waits until an earlier delivery has released its entries, and counts them. */
  async #succeed(predecessor: Promise<void>): Promise<void> {
    const { store, handlerKey } = this.#options;
    await predecessor;
    const through = store.lastSequence;
    const counted = this.#onDiskCount;
    await this.#lastStored;
    this.#onDiskCount = store.waitingCount(handlerKey, through) + (this.#onDiskCount - counted);
    this.#predecessor = undefined;
  }

  async #deliver(entry: Waiting): Promise<void> {
    const { store } = this.#options;
    try {
      await entry.stored;
    } catch (error) {
      // An alert about a full disk must be sent although it cannot be stored.
      this.#notStored(entry.event, error);
    }
    // Stopped meanwhile: it is in the outbox for the next run.
    if (this.#stopped.signal.aborted) return;
    let outcome: DeliveryNote['outcome'] = 'delivered';
    try {
      for (let step = entry.step; step < this.#steps.length; step++) {
        const result = await this.#runStep(step, entry);
        if (result.kind === 'hold') return;
        if (result.kind === 'pass') continue;
        outcome = 'stopped';
        break;
      }
    } catch (error) {
      // Any exception of a handler is that event's failure, never the service's.
      if (!this.#stopped.signal.aborted) this.#fail(entry, error);
      return;
    }
    store.remove(entry);
    this.#delivered++;
    this.#note(entry.event, outcome, '');
  }

  #note(event: TopicEvent, outcome: DeliveryNote['outcome'], reason: string): void {
    const time = this.#options.clock.now();
    this.#recent.push({ event: event.id, level: event.level, time, outcome, reason });
    if (this.#recent.length > RECENT_DELIVERIES.value) this.#recent.shift();
  }

  #notStored(event: TopicEvent | undefined, error: unknown): void {
    const reason = messageOf(error);
    this.#lastError = `failed to write the outbox: ${reason}`;
    if (event !== undefined) this.#options.report('error', this.#lastError, event);
  }

  async #runStep(step: number, entry: Waiting): Promise<StepResult> {
    const action = this.#steps[step];
    assert(action !== undefined, 'the step exists');
    const current = step === entry.step ? entry : { ...entry, step };
    try {
      if (action.isLocal === true) return await action.run(current, this.#stopped.signal);
      return await this.#runWithDeadline(action, current);
    } catch (error) {
      // The failed step is repeated; earlier actions of the chain are finished, even after a
      // restart.
      entry.attempts++;
      if (step !== entry.step) {
        entry.step = step;
        this.#options.store.update(entry).catch((cause: unknown) => {
          this.#notStored(entry.event, cause);
        });
      }
      throw error;
    }
  }

  // Actions should obey the signal, but one that does not must not block the queue either.
  async #runWithDeadline(action: ChainStep, entry: Waiting): Promise<StepResult> {
    if (this.#options.mayDeliver?.() === false) throw new Unavailable(NOT_LEADING);
    const attempt = new AbortController();
    const timer = new AbortController();
    this.#attempt = attempt;
    this.#options.clock.sleep(SEND_TIMEOUT.value, timer.signal).then(
      () => attempt.abort(new Unavailable(`no success within ${SEND_TIMEOUT.value} ms`)),
      // The timer was cancelled because the action ended in time.
      () => undefined,
    );
    const { signal } = attempt;
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    try {
      return await Promise.race([action.run(entry, signal), aborted]);
    } finally {
      this.#attempt = undefined;
      timer.abort(ENDED);
    }
  }

  #fail(entry: Waiting, error: unknown): void {
    const { store, clock, report, redact = (text) => text } = this.#options;
    const reason = redact(messageOf(error));
    this.#lastError = reason;
    if (error instanceof Unavailable && entry.attempts <= RETRY_COUNT.value) {
      report('warn', `failed to send event, will be repeated: ${reason}`, entry.event);
      this.#repeated++;
      this.#note(entry.event, 'repeated', reason);
      this.#park(entry);
      return;
    }
    this.#failed++;
    this.#note(entry.event, 'failed', reason);
    const isExpected = error instanceof AppError;
    report(
      'error',
      `failed to send event: ${isExpected ? reason : redact(String(error))}`,
      entry.event,
    );
    store.moveToDeadLetters(entry, reason, clock.now());
  }

  #park(entry: Waiting): void {
    // Each lane has a signal of its own: thousands of them may wait, too many for the listeners of
    // one.
    const lane: Lane = { entries: [entry], wait: new AbortController() };
    this.#parked.set(entry.event.id, lane);
    this.#parkedCount++;
    const { clock, random } = this.#options;
    const base = Math.min(
      RETRY_DELAY_MAX.value,
      RETRY_DELAY_FIRST.value * 2 ** (entry.attempts - 1),
    );
    const delayMs = base * (0.75 + random() / 2);
    clock.sleep(delayMs, lane.wait.signal).then(
      () => {
        // A clock may wake a lane at the moment when it is dropped.
        if (this.#parked.get(entry.event.id) !== lane) return;
        this.#parked.delete(entry.event.id);
        this.#parkedCount -= lane.entries.length;
        this.#ready.splice(this.#head, 0, ...lane.entries);
        this.#start();
      },
      // Stopped: the entry stays in the outbox for the next run.
      () => undefined,
    );
  }
}

// Entries read from disk at a time; a few milliseconds of work.
const READ_BACK_COUNT = 500;

// A constant reason saves the stack trace that would be created for each cancelled timer.
const ENDED = new Unavailable('the action has ended');
