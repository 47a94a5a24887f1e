// The driver: the only place that waits for operators. It gives turns, waits for pages and memory,
// and notices cancellation.
import { Cancelled } from '@tidemark/core';

import type { QueryMemory } from './context.ts';
import { SLICE_MS } from './limits.ts';
import { isOfChange, isPause } from './operator.ts';
import type { Operator, Pause, Steps } from './operator.ts';

/** What may end or hold up a query. */
export type Supervision = {
  /** Aborted by KILL QUERY, a timeout, disconnect or shutdown. */
  readonly signal: AbortSignal;
  readonly memory?: QueryMemory | undefined;
};

type Pull<T> = IteratorResult<T, void>;

/** Batches as somebody wants them; `return`, always, ends the work. */
export type Pulled<T> = {
  /** At once when nothing has to be waited for. */
  readonly next: () => Pull<T> | Promise<Pull<T>>;
  readonly return: () => void;
};

/** What was pulled, as it comes. */
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
  /** Asked at every pause; `undefined` while nothing has begun. */
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
   * Operators that were told of their cancellation. What they hand on afterwards, a writer the
   * reason, is taken as it comes.
   */
  readonly #cancelled = new WeakSet<object>();
  /** A change was waited for: what came of it is heard first. */
  #isBehindChange = false;
  /** What went wrong while memory was waited for. */
  #failure: { readonly error: unknown } | undefined;

  constructor({ supervision, monotonicMs }: DriverOptions) {
    this.#supervision = supervision;
    this.#monotonicMs = monotonicMs;
    this.#sliceEnd = monotonicMs() + SLICE_MS;
  }

  /** What an operator hands on, one by one. */
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
   * The next batch, at once when nothing has to be waited for. Batches count as work too: a sink
   * that takes each at once would otherwise get thousands of them within one turn.
   */
  #next<T>(operator: Operator<T>): Pull<T> | Promise<Pull<T>> {
    if (this.#isSliceOver) return this.#nextBehind(operator, this.#turn());
    const next = this.#untilWait(operator, operator.next());
    return next instanceof Promise ? this.#nextBehind(operator, next) : next;
  }

  /** A loop, not a chain: an operator may wait thousands of times before it hands something on. */
  async #nextBehind<T>(operator: Operator<T>, wait: Promise<void>): Promise<Pull<T>> {
    for (let next: Pull<T> | Promise<void> = wait; ;) {
      if (!(next instanceof Promise)) return next;
      await next;
      next = this.#untilWait(operator, this.#resume(operator));
    }
  }

  /** Pulls on until there is a batch, the end, or something to wait for. */
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

  /** Does the work to its end. */
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

  /** What has to be waited for now; nothing while there is time. Never rejects. */
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

  /** Pulls again behind a pause; throws into the operator when something has ended it meanwhile. */
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

/** Batches of an operator that nobody ends and nobody else waits for: tools and tests. */
export function eachBatch<T>(operator: Operator<T>): AsyncGenerator<T, void, undefined> {
  return new Driver({ supervision: () => undefined, monotonicMs: () => 0 }).batches(operator);
}
