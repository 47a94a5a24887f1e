// The event loop of a run: knows when everything that takes no time has finished, and attributes
// failures to the instance that runs.
import { assert } from '@tidemark/core';

/** So many rounds without time are a loop without an end. */
const ROUNDS_MAX = 100_000;

const immediately = globalThis.setImmediate;
const nextTick = process.nextTick;

let outstanding = 0;

/** Ticks that others (streams) have asked for since the run began, and those that have been. */
const ticks = { asked: 0, done: 0 };

/**
 * Owner of the code that runs now, and of its continuations in the same turn; `undefined` is the
 * process.
 */
let owner: Owner | undefined;

/** Ended by a failure of its code. */
export type Owner = { readonly failed: (error: unknown) => void };

/** The rest of this turn is the owner's. */
export function enter(next: Owner | undefined): void {
  owner = next;
}

/** Counts immediates and ticks from now on; the result takes it back. One run at a time. */
export function countImmediates(): () => void {
  assert(globalThis.setImmediate === immediately, 'one run at a time');
  outstanding = 0;
  owner = undefined;
  const counted = (run: () => void): NodeJS.Immediate => {
    outstanding++;
    const own = owner;
    return immediately(() => {
      outstanding--;
      owner = own;
      try {
        run();
      } catch (error) {
        if (own === undefined) throw error;
        own.failed(error);
      }
    });
  };
  globalThis.setImmediate = Object.assign(counted, {
    __promisify__: immediately.__promisify__,
  }) as typeof setImmediate;
  process.nextTick = (run: (...given: never[]) => void, ...given: never[]) => {
    ticks.asked++;
    nextTick(() => {
      ticks.done++;
      run(...given);
    });
  };
  return () => {
    globalThis.setImmediate = immediately;
    process.nextTick = nextTick;
  };
}

/** Everything that follows without time is done: stores write at once, see `memory-disk.ts`. */
export async function settled(): Promise<void> {
  let isDone = false;
  for (let round = 0; !isDone; round++) {
    if (round > ROUNDS_MAX) throw new Error('something goes on and on without time');
    const { asked, done } = ticks;
    await new Promise<void>((resolve) => {
      // A tick comes behind all promises, and costs less than a turn of the event loop.
      if (outstanding === 0) nextTick(resolve);
      else immediately(resolve);
    });
    isDone = outstanding === 0 && asked === done && ticks.asked === asked;
  }
  owner = undefined;
}
