// A memory budget that many requests share. A request that finds no room waits in a queue, first
// in, first out, for a bounded time. While a request waits, memory whose holder makes no progress
// (its client stopped sending or reading) is reclaimed.
//
// Parts may grow. As much as the oldest part may ever need is kept for it, so it never waits for
// others. Whoever waits, waits for the oldest part to be released at most, so there is no deadlock.
import { Arrivals } from './arrivals.ts';
import type { Arrival } from './arrivals.ts';
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
  /**
   * Largest size that a part may grow to, of which the oldest part is assured; absent or 0 when
   * parts do not grow. Much smaller than the limit, or parts are handed out one by one.
   */
  readonly grownBytesMax?: number | undefined;
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

/** A part of a budget. */
export type Part = {
  readonly sizeBytes: number;
  /**
   * Makes the part so large, `grownBytesMax` at most, at once or when there is room. Rejects as
   * `take`; the part stays as it is then. Not while it grows already.
   */
  grow(sizeBytes: number): void | Promise<void>;
  /** Idempotent. The part no longer waits to grow: that promise resolves. */
  release(): void;
};

interface Held extends Arrival<Held> {
  /** Absent when the part is released, too: what is over must not keep its request. */
  holder: Holder | undefined;
  sizeBytes: number;
  isRevoked: boolean;
  sinceMs: number;
  progress: number;
  /** Present while the part waits to grow. */
  growing: Waiting | undefined;
}

type Waiting = {
  /** Absent for one that has no part yet. */
  readonly held: Held | undefined;
  readonly addedBytes: number;
  readonly admit: () => void;
  /** Its part was released. */
  readonly abandon: () => void;
};

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
  readonly #grownBytesMax: number;
  /** Those that have no part yet, in the order of their arrival. */
  readonly #waiting = new Set<Waiting>();
  /** The parts, oldest first. */
  readonly #held = new Arrivals<Held>();
  #heldBytes = 0;
  #growingCount = 0;
  #isLooking = false;
  readonly counters = { waited: 0, refused: 0, revoked: 0 };

  constructor(options: BudgetOptions) {
    const { limitBytes, grownBytesMax = 0 } = options;
    assert(limitBytes === 0 || grownBytesMax <= limitBytes, 'a part fits into the budget');
    this.#options = options;
    this.#grownBytesMax = grownBytesMax;
  }

  get limitBytes(): number {
    return this.#options.limitBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get waitingCount(): number {
    return this.#waiting.size + this.#growingCount;
  }

  /**
   * A part of the budget. Returned at once, without a promise, when there is room and nobody waits;
   * otherwise after everybody who came before. A request larger than the whole budget gets the
   * whole. Rejects with `Unavailable` after `waitMs`.
   */
  take(sizeBytes: number, holder?: Holder): Part | Promise<Part> {
    const { limitBytes } = this.#options;
    const wanted = limitBytes === 0 ? sizeBytes : Math.min(sizeBytes, limitBytes);
    if (this.waitingCount === 0 && this.#hasRoom(wanted)) return this.#give(wanted, holder);
    let part: Part | undefined;
    const given = this.#wait(undefined, wanted, () => (part = this.#give(wanted, holder)));
    return given.then(() => {
      assert(part !== undefined, 'who is admitted has a part');
      return part;
    });
  }

  /** Whether a part may become larger, or a new one begin, by so much. */
  #hasRoom(addedBytes: number, held?: Held): boolean {
    const { limitBytes } = this.#options;
    if (limitBytes === 0) return true;
    const bytes = this.#heldBytes + addedBytes;
    if (bytes > limitBytes) return false;
    const { oldest } = this.#held;
    if (this.#grownBytesMax === 0 || oldest === undefined || oldest === held) return true;
    return bytes - oldest.sizeBytes <= limitBytes - this.#grownBytesMax;
  }

  #give(sizeBytes: number, holder: Holder | undefined): Part {
    this.#heldBytes += sizeBytes;
    const held: Held = {
      holder,
      sizeBytes,
      isRevoked: false,
      sinceMs: this.#options.clock.monotonicMs(),
      progress: holder?.progress() ?? 0,
      growing: undefined,
    };
    this.#held.add(held);
    return {
      get sizeBytes() {
        return held.sizeBytes;
      },
      grow: (wantedBytes) => this.#grow(held, wantedBytes),
      release: () => this.#release(held),
    };
  }

  #grow(held: Held, wantedBytes: number): void | Promise<void> {
    assert(held.growing === undefined, 'a part grows once at a time');
    assert(held.isPresent === true, 'a part that grows is held');
    assert(
      this.limitBytes === 0 || wantedBytes <= this.#grownBytesMax,
      'a part keeps to its largest size',
    );
    const addedBytes = wantedBytes - held.sizeBytes;
    if (addedBytes <= 0) return;
    const add = (): void => {
      held.sizeBytes += addedBytes;
      this.#heldBytes += addedBytes;
    };
    const isNext = this.#growingCount === 0 || this.#isOldest(held);
    if (isNext && this.#hasRoom(addedBytes, held)) return add();
    return this.#wait(held, addedBytes, add);
  }

  #isOldest(held: Held): boolean {
    return this.#held.oldest === held;
  }

  #release(held: Held): void {
    if (!this.#held.remove(held)) return;
    held.holder = undefined;
    this.#heldBytes -= held.sizeBytes;
    assert(this.#heldBytes >= 0, 'what is given back was taken');
    held.growing?.abandon();
    this.#admit();
  }

  /** Admits parts that grow, by age, then new ones, up to the first for which there is no room. */
  #admit(): void {
    for (const held of this.#growingCount > 0 ? this.#held : []) {
      if (held.growing === undefined) continue;
      if (!this.#hasRoom(held.growing.addedBytes, held)) return;
      held.growing.admit();
    }
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.addedBytes)) return;
      waiting.admit();
    }
  }

  #enqueue(waiting: Waiting): void {
    if (waiting.held === undefined) this.#waiting.add(waiting);
    else {
      waiting.held.growing = waiting;
      this.#growingCount++;
    }
  }

  #dequeue(waiting: Waiting): void {
    if (waiting.held === undefined) this.#waiting.delete(waiting);
    else {
      waiting.held.growing = undefined;
      this.#growingCount--;
    }
  }

  #wait(held: Held | undefined, addedBytes: number, add: () => void): Promise<void> {
    const { clock, waitMs, what, setting, limitBytes } = this.#options;
    this.counters.waited++;
    return new Promise((resolve, reject) => {
      const timer = new AbortController();
      const end = (): void => {
        this.#dequeue(waiting);
        timer.abort('decided');
      };
      const waiting: Waiting = {
        held,
        addedBytes,
        admit: () => {
          end();
          add();
          resolve();
        },
        abandon: () => {
          end();
          resolve();
        },
      };
      this.#enqueue(waiting);
      void this.#look(); // Never rejects.
      clock.sleep(waitMs, timer.signal).then(
        () => {
          this.counters.refused++;
          this.#dequeue(waiting);
          reject(
            new Unavailable(
              `${what} take all the memory that they may, come again later. limitBytes=${limitBytes} setting=\`${setting}\``,
            ),
          );
          // Those behind it may need less.
          this.#admit();
        },
        () => undefined, // Decided in time.
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
      held.progress = held.holder?.progress() ?? held.progress;
    }
    while (this.waitingCount > 0) {
      await clock.sleep(LOOK_MS);
      this.#revokeIdle(clock.monotonicMs());
    }
    this.#isLooking = false;
  }

  #revokeIdle(nowMs: number): void {
    if (this.waitingCount === 0) return;
    const { what, setting } = this.#options;
    for (const held of this.#held) {
      const { holder } = held;
      if (holder === undefined || held.isRevoked || nowMs - held.sinceMs < IDLE_MS) continue;
      const progress = holder.progress();
      if (progress === undefined || progress - held.progress >= IDLE_BYTES) {
        held.sinceMs = nowMs;
        held.progress = progress ?? held.progress;
        continue;
      }
      held.isRevoked = true;
      this.counters.revoked++;
      holder.revoke(
        new Unavailable(
          `the client was too slow while other ${what} waited. setting=\`${setting}\``,
        ),
      );
    }
  }
}
