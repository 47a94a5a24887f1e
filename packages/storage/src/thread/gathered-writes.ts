// Takes small writes from the ring, group by group. While one becomes durable, everything that
// comes gathers for the next: it is parsed, logged and synced as one, and nobody wakes the thread
// for it. A group that takes long, because the disk is slow or a memtable is full, does not hold
// up those behind it for more than `GATHER_MS`.
import type { Clock } from '@tidemark/core';

import type { RingReader, SmallWrite } from './write-ring.ts';

const GATHER_MS = 5;

// A constant reason: without one, every cancelled timer creates an exception with a stack.
const NOTHING_LEFT = 'nothing left to wait for';

export type GatheredWritesOptions = {
  readonly ring: RingReader;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Begins to make writes, and calls `onDone` once when all are answered. */
  readonly make: (writes: readonly SmallWrite[], onDone: () => void) => void;
};

export class GatheredWrites {
  readonly #options: GatheredWritesOptions;
  /** The wait for the group that was taken last. */
  #wait: AbortController | undefined;

  constructor(options: GatheredWritesOptions) {
    this.#options = options;
    // What was added before there was a reader woke nobody.
    this.take();
  }

  /** Takes what is there now, and then whatever comes until there is a time without writes. */
  take(): void {
    const { clock, make, ring } = this.#options;
    this.#wait?.abort(NOTHING_LEFT);
    this.#wait = undefined;
    let writes = ring.take();
    while (writes.length === 0) {
      if (ring.sleep()) return;
      writes = ring.take();
    }
    const wait = new AbortController();
    this.#wait = wait;
    const takeNext = (): void => {
      if (this.#wait === wait) this.take();
    };
    make(writes, takeNext);
    // An aborted wait is one for a group that is done.
    clock.sleep(GATHER_MS, wait.signal).then(takeNext, () => undefined);
  }
}
