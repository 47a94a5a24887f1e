// The scheduler of a simulation: everything that waits (for a sync, a turn, a timer, a step of a
// job) waits here, and a seed decides what continues. Time is virtual. The same seed and the same
// work give the same order.
import type { Clock } from '@tidemark/core';

import { randomNumbers } from '../simulated-disk.ts';

type Waiting = {
  readonly what: string;
  /** The wait lasts until this step, unless nothing else can continue: a slow sync. */
  readonly notBefore: number;
  /** Virtual time of a timer. */
  readonly atMs: number;
  readonly proceed: () => void;
};

/** One wait in this many is slow, and takes up to this many steps. */
const SLOW_ONE_OF = 6;
const SLOW_STEPS_MAX = 120;
/** The clock jumps once in this many readings, which ends a time slice. */
const JUMP_ONE_OF = 12;
const JUMP_MS = 4;
/** Once in this many steps the next timer fires although other waits could end. */
const TIMER_ONE_OF = 40;

export class Scheduler {
  readonly #random: () => number;
  readonly #trace: (line: string) => void;
  #waiting: Waiting[] = [];
  #nowMs = 1_000_000;
  #step = 0;
  /** While this is set, time stands still: reads of the checkers take none. */
  isFrozen = false;

  constructor(seed: number, trace: (line: string) => void) {
    this.#random = randomNumbers(Math.imul(seed + 1, 0x9e3779b1));
    this.#trace = trace;
  }

  get steps(): number {
    return this.#step;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** An integer in [0, end). */
  pick(end: number): number {
    return Math.floor(this.#random() * end);
  }

  isOneOf(count: number): boolean {
    return this.pick(count) === 0;
  }

  /** Resolves when the seed chooses the caller. */
  wait(what: string): Promise<void> {
    return new Promise((resolve) => this.run(what, resolve));
  }

  /** Runs a function when the seed chooses it. */
  run(what: string, proceed: () => void): void {
    const slow = this.isOneOf(SLOW_ONE_OF) ? this.pick(SLOW_STEPS_MAX) : 0;
    this.#waiting.push({ what, notBefore: this.#step + slow, atMs: 0, proceed });
  }

  readonly clock: Clock = {
    now: () => BigInt(Math.floor(this.#nowMs)) * 1_000_000n,
    monotonicMs: () => {
      if (!this.isFrozen && this.isOneOf(JUMP_ONE_OF)) this.#nowMs += JUMP_MS;
      return this.#nowMs;
    },
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason);
          return;
        }
        const onAbort = (): void => {
          this.#waiting = this.#waiting.filter((other) => other !== timer);
          reject(signal?.reason);
        };
        const timer: Waiting = {
          what: `timer of ${delayMs} ms`,
          notBefore: 0,
          atMs: this.#nowMs + delayMs,
          proceed: () => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        this.#waiting.push(timer);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
  };

  /** Ends one of the waits, and resolves with its name when nothing moves any more. */
  async step(): Promise<string> {
    this.#step++;
    const next = this.#choose();
    if (next === undefined) return 'nothing';
    this.#waiting = this.#waiting.filter((other) => other !== next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    this.#trace(next.what);
    next.proceed();
    await settled();
    return next.what;
  }

  #choose(): Waiting | undefined {
    const ready = this.#waiting.filter(
      ({ notBefore, atMs }) => notBefore <= this.#step && atMs <= this.#nowMs,
    );
    const isTimersTurn = ready.length === 0 || this.isOneOf(TIMER_ONE_OF);
    if (!isTimersTurn) return ready[this.pick(ready.length)];
    const slow = this.#waiting.filter(({ atMs }) => atMs <= this.#nowMs);
    if (ready.length === 0 && slow.length > 0) return slow[this.pick(slow.length)];
    let next: Waiting | undefined;
    for (const timer of this.#waiting) {
      if (timer.atMs > this.#nowMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
    }
    return next ?? ready[0];
  }

  /** No wait ends any more: the machine is off. */
  forgetAll(): void {
    this.#waiting = [];
  }
}

/** Resolves when all promises that could be settled are. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
