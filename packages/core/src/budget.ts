// A budget of memory that many share: whoever finds no room waits in order, for a bounded time.
// While somebody waits, those who hold their part and get nowhere (a client that stopped sending,
// or reading) have to give it back.
import { assert } from './assert.ts';
import type { Clock } from './clock.ts';
import { Unavailable } from './errors.ts';

export type BudgetOptions = {
  /** Key of the configuration that raises it. */
  readonly setting: string;
  /** 0 is no limit. */
  readonly limitBytes: number;
  /** Whoever has waited for so long is refused. */
  readonly waitMs: number;
  readonly clock: Clock;
  /** What it is for, in the plural: "bodies of requests". */
  readonly what: string;
};

/** Who holds a part of a budget and may lose it. */
export type Holder = {
  /**
   * Grows as the work gets on: bytes received, bytes sent. `undefined` while it does not depend on
   * a client.
   */
  readonly progress: () => number | undefined;
  /** The part is given back by force: the work has to end with the error, and release its part. */
  readonly revoke: (error: Unavailable) => void;
};

/** A part of a budget. `release` is idempotent. */
export type Part = { readonly sizeBytes: number; release(): void };

type Held = { readonly holder: Holder; sinceMs: number; progress: number };

type Waiting = { readonly sizeBytes: number; readonly admit: () => void };

/** How often those who hold a part are looked at while others wait. */
const LOOK_MS = 1000;
/** Who gets on by less than this within `IDLE_MS` is slower than any client that means it. */
const IDLE_MS = 5000;
const IDLE_BYTES = 64 << 10;

export class Budget {
  readonly #options: BudgetOptions;
  readonly #waiting = new Set<Waiting>();
  readonly #held = new Set<Held>();
  #heldBytes = 0;
  #isLooking = false;
  readonly counters = { waited: 0, refused: 0, revoked: 0 };

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  get limitBytes(): number {
    return this.#options.limitBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /**
   * A part of the budget: at once, without a promise, while there is room; otherwise when those
   * before have theirs. What is larger than the whole budget counts as the whole. Rejects with
   * `Unavailable`.
   */
  take(sizeBytes: number, holder?: Holder): Part | Promise<Part> {
    const { limitBytes } = this.#options;
    const wanted = limitBytes === 0 ? sizeBytes : Math.min(sizeBytes, limitBytes);
    if (this.#waiting.size === 0 && this.#hasRoom(wanted)) return this.#give(wanted, holder);
    return this.#wait(wanted, holder);
  }

  #hasRoom(sizeBytes: number): boolean {
    const { limitBytes } = this.#options;
    return limitBytes === 0 || this.#heldBytes + sizeBytes <= limitBytes;
  }

  #give(sizeBytes: number, holder: Holder | undefined): Part {
    this.#heldBytes += sizeBytes;
    const held: Held | undefined =
      holder === undefined
        ? undefined
        : { holder, sinceMs: this.#options.clock.monotonicMs(), progress: holder.progress() ?? 0 };
    if (held !== undefined) this.#held.add(held);
    let isHeld = true;
    return {
      sizeBytes,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#heldBytes -= sizeBytes;
        assert(this.#heldBytes >= 0, 'what is given back was taken');
        if (held !== undefined) this.#held.delete(held);
        this.#admit();
      },
    };
  }

  #admit(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.sizeBytes)) return;
      this.#waiting.delete(waiting);
      waiting.admit();
    }
  }

  #wait(sizeBytes: number, holder: Holder | undefined): Promise<Part> {
    const { clock, waitMs, what, setting, limitBytes } = this.#options;
    this.counters.waited++;
    return new Promise((resolve, reject) => {
      const timer = new AbortController();
      const waiting: Waiting = {
        sizeBytes,
        admit: () => {
          timer.abort('admitted');
          resolve(this.#give(sizeBytes, holder));
        },
      };
      this.#waiting.add(waiting);
      void this.#look(); // Never rejects.
      clock.sleep(waitMs, timer.signal).then(
        () => {
          this.#waiting.delete(waiting);
          this.counters.refused++;
          // Who waits behind may need less.
          this.#admit();
          reject(
            new Unavailable(
              `${what} take all the memory that they may, come again later. limitBytes=${limitBytes} setting=\`${setting}\``,
            ),
          );
        },
        () => undefined, // Admitted in time.
      );
    });
  }

  /** Looks for holders that get nowhere, for as long as somebody waits. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    // Nobody was looking before: what was held in silence until now counts from now on.
    for (const held of this.#held) {
      held.sinceMs = startMs;
      held.progress = held.holder.progress() ?? held.progress;
    }
    while (this.#waiting.size > 0) {
      await clock.sleep(LOOK_MS);
      this.#revokeIdle(clock.monotonicMs());
    }
    this.#isLooking = false;
  }

  #revokeIdle(nowMs: number): void {
    if (this.#waiting.size === 0) return;
    const { what, setting } = this.#options;
    for (const held of this.#held) {
      if (nowMs - held.sinceMs < IDLE_MS) continue;
      const progress = held.holder.progress();
      if (progress === undefined || progress - held.progress >= IDLE_BYTES) {
        held.sinceMs = nowMs;
        held.progress = progress ?? held.progress;
        continue;
      }
      this.#held.delete(held);
      this.counters.revoked++;
      held.holder.revoke(
        new Unavailable(
          `the client was too slow while other ${what} waited. setting=\`${setting}\``,
        ),
      );
    }
  }
}
