// The event loop of a run: knows when everything that takes no time has finished, and attributes
// failures to the instance that runs.
import { assert } from '@tidemark/core';

/** So many rounds without time are a loop without an end. */
const ROUNDS_MAX = 100_000;

const immediately = globalThis.setImmediate;

let outstanding = 0;

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

/** Counts immediates from now on; the result takes it back. One run at a time. */
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
  return () => {
    globalThis.setImmediate = immediately;
  };
}

/** Everything that follows without time is done: stores write at once, see `memory-disk.ts`. */
export async function settled(): Promise<void> {
  for (let round = 0; round === 0 || outstanding > 0; round++) {
    if (round > ROUNDS_MAX) throw new Error('something goes on and on without time');
    await new Promise((resolve) => {
      immediately(resolve);
    });
    owner = undefined;
  }
}
