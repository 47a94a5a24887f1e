// A memory budget that many requests share. A request that finds no room waits in a queue, first
// in, first out, for a bounded time. While a request waits, memory whose holder makes no progress
// (its client stopped sending or reading) is reclaimed.
import { assert } from './assert.ts';
import type { Clock } from './clock.ts';
import { Unavailable } from './errors.ts';

export type BudgetOptions = {
  /** The configuration key that raises the limit. */
  readonly setting: string;
  /** 0 means no limit. */
  readonly limitBytes: number;
  /** A request that has waited this long is refused. */
  readonly waitMs: number;
  readonly clock: Clock;
  /** What the memory is used for, as a plural for error messages: "bodies of requests". */
  readonly what: string;
};

/** A holder of a part, from whom the part can be taken back. */
export type Holder = {
  /**
   * A number that grows with progress: bytes received, or bytes sent. `undefined` while the work
   * does not depend on a client; then the part is not taken back.
   */
  readonly progress: () => number | undefined;
  /** Takes the part back: the work has to end with the error, and to release its part. */
  readonly revoke: (error: Unavailable) => void;
};

/** A part of a budget. `release` is idempotent. */
export type Part = { readonly sizeBytes: number; release(): void };

type Held = { readonly holder: Holder; sinceMs: number; progress: number };

type Waiting = { readonly sizeBytes: number; readonly admit: () => void };

/** Interval for checking the progress of holders while others wait. */
const LOOK_MS = 1000;
/**
 * A holder with less progress than `IDLE_BYTES` within `IDLE_MS` loses its part: slower than any
 * healthy client.
 */
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
   * A part of the budget. Returned at once, without a promise, when there is room and nobody waits;
   * otherwise after everybody who came before. A request larger than the whole budget gets the
   * whole. Rejects with `Unavailable` after `waitMs`.
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
          // Those behind it may need less.
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

  /** Checks holders for progress, for as long as somebody waits. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    // Progress was not checked while nobody waited: each holder's idle time begins now.
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
