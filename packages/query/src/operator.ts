// The contract of operators: synchronous generators that yield batches as they become available,
// and pauses when they have to wait.
// - Order: an operator yields batches in the order of the answer. Nothing is done before the first
// is pulled, and `return` ends the work: `finally` releases what is held.
// - Pauses: besides batches it yields pauses. The reader of an operator yields each pause at once
// and unchanged, so that it reaches the driver at the outer end, and pulls again: `mapBatches`,
// `flatMapBatches`, `forEachBatch` and `nextBatch` do so, and operators are written with them.
// Every loop that may take long yields one per some thousand items.
// - Closures: a generator is a function of a module or a method of a class. V8 makes a hidden class
// for each generator that is a closure; it lies among the old objects, and keeps everything that
// the closure refers to until all of them are collected.
// - Ownership: a batch belongs to the reader that pulled it, until that reader pulls again for
// columns that say so (`RowBatch`).
// - Cancellation: the driver throws into the operators at a pause, except after a change
// (`waitForChange`); operators do not check the signal. A reader is thrown out of its loop, and the
// operators that it reads from only get `return`.
// - Failure: operators throw. The promise of a pause never rejects: a waiting operator checks the
// outcome itself.

/** `undefined` gives others a turn, when the time is used up. A promise is awaited. */
export type Pause = undefined | Promise<void>;

/** Batches and pauses. */
export type Operator<T> = Generator<T | Pause, void, undefined>;

/** Work with one result, done in steps. An operator runs it with `yield*`. */
export type Steps<T = void> = Generator<Pause, T, undefined>;

/** Distinguishes a pause from a batch. */
export function isPause(next: unknown): next is Pause {
  return next === undefined || next instanceof Promise;
}

/**
 * The results of `work` on each batch. Where it is `undefined`, others get a turn. The source ends
 * after the batch for which it `isOver`.
 */
export function* mapBatches<T, U>(
  source: Operator<T>,
  work: (batch: T) => U | undefined,
  isOver?: () => boolean,
): Operator<U> {
  for (const next of source) {
    yield isPause(next) ? next : work(next);
    if (isOver?.() === true) return;
  }
}

/** What `work` yields for each batch. The source ends after the batch for which it `isOver`. */
export function* flatMapBatches<T, U>(
  source: Operator<T>,
  work: (batch: T) => Operator<U>,
  isOver?: () => boolean,
): Operator<U> {
  for (const next of source) {
    if (isPause(next)) {
      yield next;
      continue;
    }
    yield* work(next);
    if (isOver?.() === true) return;
  }
}

/** Calls `work` for each batch. The source ends after the batch for which it `isOver`. */
export function* forEachBatch<T>(
  source: Operator<T>,
  work: (batch: T) => void,
  isOver?: () => boolean,
): Steps {
  for (const next of source) {
    if (isPause(next)) {
      yield next;
      continue;
    }
    work(next);
    if (isOver?.() === true) return;
  }
}

/** The next batch; `undefined` at the end. The caller ends the source. */
export function* nextBatch<T>(source: Operator<T>): Steps<T | undefined> {
  for (let step = source.next(); step.done !== true; step = source.next()) {
    if (!isPause(step.value)) return step.value;
    yield step.value;
  }
  return undefined;
}

/** Promises of changes: the driver does not cancel operators after them. */
const changes = new WeakSet<Promise<void>>();

/** Whether the operator must be resumed after the pause, even if the query was ended meanwhile. */
export function isOfChange(pause: Pause): boolean {
  return pause !== undefined && changes.has(pause);
}

/**
 * As `waitFor`, for a change: once it is made, its outcome is returned even if the query has ended.
 */
export function* waitForChange<T>(work: Promise<T>): Steps<T> {
  const waiting = waitFor(work);
  let step = waiting.next();
  while (step.done !== true) {
    if (step.value !== undefined) changes.add(step.value);
    yield step.value;
    step = waiting.next();
  }
  return step.value;
}

/** Waits for another part of the program, and returns or throws the outcome. */
export function* waitFor<T>(work: Promise<T>): Steps<T> {
  let outcome: { readonly value: T } | undefined;
  let failure: unknown;
  yield work.then(
    (value) => {
      outcome = { value };
    },
    (error: unknown) => {
      failure = error;
    },
  );
  if (outcome === undefined) throw failure;
  return outcome.value;
}
