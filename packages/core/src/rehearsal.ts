// After the start, while nobody asks for anything, a service runs what it will be asked for on data of no importance, so
// that V8 has compiled and optimised the way of a request before the first one comes: code that has never been run takes
// ten times as long as later, and the hundredth time still twice as long (docs/benchmarks.md, docs/adr/0009-bundle.md).
import type { Clock } from './clock.ts';

export { RehearsalConnection } from './rehearsal-connection.ts';

/** What is rehearsed, over something that belongs to the rehearsal alone. */
export type RehearsalStage = {
  /** Pieces of a round; each takes milliseconds. A stage that is opened anew goes on with the round it was in. */
  readonly steps: (round: number) => Iterable<() => Promise<void>>;
  /** Lets go of everything. */
  readonly close: () => Promise<void>;
};

export type RehearsalOptions = {
  readonly clock: Clock;
  readonly open: () => Promise<RehearsalStage>;
  readonly requests: RequestState;
  readonly rounds: number;
  /** It is quiet when nobody has asked for anything for so long. */
  readonly quietMs?: number | undefined;
};

export type RequestState = {
  /** Those that have come so far. */
  readonly count: () => number;
  readonly isActive: () => boolean;
};

const QUIET_MS = 750;
/** Each has to open its stage anew. */
const BEGINNINGS_MAX = 10;

/**
 * Runs once. Stops between two steps as soon as there is a request, and lets go of its memory, which is the requests'
 * then; goes on with the same round when it is quiet again.
 */
export class Rehearsal {
  readonly #options: RehearsalOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #round = 0;

  constructor(options: RehearsalOptions) {
    this.#options = options;
  }

  /** Resolves when it is over, also when it was ended by `close`. Rejects when it could not be done. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Ends it after the step that is being taken. Idempotent. */
  async close(): Promise<void> {
    this.#abort.abort();
    // Whoever has started it hears of its failure.
    await this.#running?.catch(() => undefined);
  }

  async #run(): Promise<void> {
    for (let begun = 0; begun < BEGINNINGS_MAX && (await this.#isQuiet()); begun++) {
      const stage = await this.#options.open();
      try {
        if (await this.#perform(stage)) return;
      } finally {
        await stage.close();
      }
    }
  }

  /** Whether it came to its end: `false` when there was a request or it was closed. */
  async #perform(stage: RehearsalStage): Promise<boolean> {
    const { requests, rounds } = this.#options;
    const seen = requests.count();
    for (; this.#round < rounds; this.#round++) {
      for (const step of stage.steps(this.#round)) {
        await step();
        // What came meanwhile is read and served first.
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        if (requests.count() !== seen || this.#abort.signal.aborted) return false;
      }
    }
    return true;
  }

  /** Waits for a time without requests; `false` when it was closed meanwhile. */
  async #isQuiet(): Promise<boolean> {
    const { clock, requests, quietMs = QUIET_MS } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const seen = requests.count();
      await clock.sleep(quietMs, signal).catch(() => undefined); // Closed: the loop ends.
      if (requests.count() === seen && !requests.isActive()) break;
    }
    return !signal.aborted;
  }
}
