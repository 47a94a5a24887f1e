// The driver: the only place that waits for operators. It gives turns, waits for pages and memory,
// and notices cancellation.
import { Cancelled } from '@tidemark/core';

import type { QueryMemory } from './context.ts';
import { SLICE_MS } from './limits.ts';
import { isOfChange, isPause } from './operator.ts';
import type { Operator, Pause, Steps } from './operator.ts';

/** Reasons to end or delay a query. */
export type Supervision = {
  /** Aborted by KILL QUERY, a timeout, disconnect or shutdown. */
  readonly signal: AbortSignal;
  readonly memory?: QueryMemory | undefined;
};

type Pull<T> = IteratorResult<T, void>;

/** Batches on request; `return`, which must be called, ends the work. */
export type Pulled<T> = {
  /** Returns a promise only if there is something to wait for. */
  readonly next: () => Pull<T> | Promise<Pull<T>>;
  readonly return: () => void;
};

/** The pulled batches as an iterable. */
export async function* eachPulled<T>(pulled: Pulled<T>): AsyncGenerator<T, void, undefined> {
  try {
    for (;;) {
      const next = await pulled.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    pulled.return();
  }
}

export type DriverOptions = {
  /** Called at every pause; `undefined` before anything has begun. */
  readonly supervision: () => Supervision | undefined;
  /** Monotonic milliseconds, for slices of work. */
  readonly monotonicMs: () => number;
};

/** Drives the operators of one request. */
export class Driver {
  readonly #supervision: DriverOptions['supervision'];
  readonly #monotonicMs: DriverOptions['monotonicMs'];
  #sliceEnd: number;
  /**
   * Operators that have been cancelled. Their later results, such as the reason of a writer, are
   * passed on.
   */
  readonly #cancelled = new WeakSet<object>();
  /** A change was awaited: its outcome is processed first. */
  #isBehindChange = false;
  /** An error while waiting for memory. */
  #failure: { readonly error: unknown } | undefined;

  constructor({ supervision, monotonicMs }: DriverOptions) {
    this.#supervision = supervision;
    this.#monotonicMs = monotonicMs;
    this.#sliceEnd = monotonicMs() + SLICE_MS;
  }

  /** The batches of an operator, one by one. */
  pull<T>(operator: Operator<T>): Pulled<T> {
    return {
      next: () => this.#next(operator),
      return: () => void operator.return(),
    };
  }

  /** The same as an iterable. */
  batches<T>(operator: Operator<T>): AsyncGenerator<T, void, undefined> {
    return eachPulled(this.pull(operator));
  }

  /**
   * The next batch, without a promise if there is nothing to wait for. Batches count as work too:
   * otherwise a sink that takes each at once would get thousands of them within one turn.
   */
  #next<T>(operator: Operator<T>): Pull<T> | Promise<Pull<T>> {
    if (this.#isSliceOver) return this.#nextBehind(operator, this.#turn());
    const next = this.#untilWait(operator, operator.next());
    return next instanceof Promise ? this.#nextBehind(operator, next) : next;
  }

  /** A loop, not a chain: an operator may wait thousands of times before it yields a batch. */
  async #nextBehind<T>(operator: Operator<T>, wait: Promise<void>): Promise<Pull<T>> {
    for (let next: Pull<T> | Promise<void> = wait; ;) {
      if (!(next instanceof Promise)) return next;
      await next;
      next = this.#untilWait(operator, this.#resume(operator));
    }
  }

  /** Pulls until there is a batch, the end, or something to wait for. */
  #untilWait<T>(
    operator: Operator<T>,
    first: IteratorResult<T | Pause, void>,
  ): Pull<T> | Promise<void> {
    let step = first;
    while (step.done !== true) {
      if (!isPause(step.value)) return { done: false, value: step.value };
      const wait = this.#wait(step.value);
      if (wait !== undefined) return wait;
      step = this.#resume(operator);
    }
    return step;
  }

  /** Runs the work to its end. */
  async result<T>(steps: Steps<T>): Promise<T> {
    try {
      let step = steps.next();
      while (step.done !== true) {
        const wait = this.#wait(step.value);
        if (wait !== undefined) await wait;
        step = this.#resume(steps);
      }
      return step.value;
    } finally {
      steps.return(undefined as never);
    }
  }

  /** A promise of what has to be awaited now; `undefined` while there is time. Never rejects. */
  #wait(pause: Pause): Promise<void> | undefined {
    this.#isBehindChange = isOfChange(pause);
    const memory = this.#supervision()?.memory;
    if (memory?.isAsking === true) return this.#admit(memory, pause);
    if (pause !== undefined) return pause.then(() => this.#startSlice());
    return this.#isSliceOver ? this.#turn() : undefined;
  }

  get #isSliceOver(): boolean {
    return this.#monotonicMs() >= this.#sliceEnd;
  }

  async #admit(memory: QueryMemory, pause: Pause): Promise<void> {
    await pause;
    try {
      await memory.admit();
    } catch (error) {
      this.#failure = { error };
    }
    this.#startSlice();
  }

  async #turn(): Promise<void> {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.#startSlice();
  }

  #startSlice(): void {
    this.#sliceEnd = this.#monotonicMs() + SLICE_MS;
  }

  /** Pulls again after a pause; throws into the operator if the query was ended meanwhile. */
  #resume<T, R>(operator: Generator<T, R, undefined>): IteratorResult<T, R> {
    if (this.#isBehindChange) {
      this.#isBehindChange = false;
      return operator.next();
    }
    const signal = this.#supervision()?.signal;
    if (signal?.aborted === true && !this.#cancelled.has(operator)) {
      this.#cancelled.add(operator);
      return operator.throw(reasonOf(signal));
    }
    const failure = this.#failure;
    if (failure === undefined) return operator.next();
    this.#failure = undefined;
    return operator.throw(failure.error);
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Cancelled('query interrupted');
}

/** Batches of an operator without cancellation or competing work: for tools and tests. */
export function eachBatch<T>(operator: Operator<T>): AsyncGenerator<T, void, undefined> {
  return new Driver({ supervision: () => undefined, monotonicMs: () => 0 }).batches(operator);
}
