// Decides which work runs next in the storage thread. All work within one round of the event loop
// shares a time slice of a few milliseconds; when it is used up, further work waits for a turn in a
// later round. A waiting query is next, unless the turn before was a query's and other work waits.
// Of waiting queries, the one that has used least time is next: dashboards do not wait for a
// report. Flushes and writes alternate, two turns of a flush for one of the writes. So a single
// query waits only for the slice that is running, and a write for five slices at most.
import type { Clock } from '@tidemark/core';

export type Work = 'write' | 'query' | 'flush' | 'background';

/**
 * Turns of a flush for one turn of a compaction when both wait. The flush goes first because writes
 * may wait for the memory that it frees.
 */
const FLUSH_TURNS = 3;

/**
 * Turns of a flush for one turn of the writes when both wait. With only one, a load fills the next
 * memtable before the last one is written: that takes more memory, and leaves a longer log to read
 * after a crash.
 */
const FLUSH_TURNS_PER_WRITE = 2;

/**
 * A query that waits so long counts as if it had used a millisecond less: one that has used a
 * second is next after eight, however many others come.
 */
const WAIT_MS_PER_USED_MS = 8;

type Waiting = {
  readonly proceed: () => void;
  /** The least is next: time used, and the time of its arrival as a part of that. */
  readonly rank: number;
};

export type TurnsOptions = {
  readonly clock: Clock;
  readonly sliceMs: number;
  /** Runs a function in the next round of the event loop; default `setImmediate`. */
  readonly nextRound?: ((run: () => void) => void) | undefined;
};

export class Turns {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  readonly #nextRound: (run: () => void) => void;
  readonly #waiting: Readonly<Record<Work, Waiting[]>> = {
    query: [],
    write: [],
    flush: [],
    background: [],
  };
  /** Turns of a flush since the last turn of other background work. */
  #flushTurns = 0;
  /** Whether the last turn was a query's. */
  #wasQuery = false;
  /** Turns of background work since the last turn of writes. */
  #turnsSinceWrite = FLUSH_TURNS_PER_WRITE;
  #sliceEnd = Number.NEGATIVE_INFINITY;
  /** Whether work has begun in this round of the event loop. */
  #isTaken = false;

  constructor({ clock, sliceMs, nextRound }: TurnsOptions) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
    this.#nextRound = nextRound ?? ((run) => void setImmediate(run));
  }

  get nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** Whether the slice is used up: running work must `enter` again before it goes on. */
  get isOver(): boolean {
    return this.#clock.monotonicMs() >= this.#sliceEnd;
  }

  /**
   * Resolves when work of this kind may begin or go on. Returns `undefined`, not a promise, while
   * the slice has time left. `usedMs` is how long a query has run so far; other work goes on in the
   * order in which it came.
   */
  enter(work: Work, usedMs = 0): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#wasQuery = work === 'query';
      // Skips one round before the next turn. The event loop reads messages in between, so that a
      // query that arrived during this slice is among the waiting work when the turn is given.
      this.#open(() => this.#nextRound(() => this.#nextTurn()));
      return undefined;
    }
    if (!this.#hasWaiting() && !this.isOver) return undefined;
    const rank = usedMs + this.nowMs / WAIT_MS_PER_USED_MS;
    return new Promise((proceed) => {
      this.#waiting[work].push({ proceed, rank });
    });
  }

  #open(afterRound: () => void): void {
    this.#isTaken = true;
    this.#sliceEnd = this.#clock.monotonicMs() + this.#sliceMs;
    this.#nextRound(afterRound);
  }

  #nextTurn(): void {
    this.#isTaken = false;
    const work = this.#choose();
    if (work === undefined) return;
    const waiting = this.#waiting[work];
    const next = work === 'query' ? leastOf(waiting) : waiting[0];
    if (next === undefined) return;
    waiting.splice(waiting.indexOf(next), 1);
    this.#wasQuery = work === 'query';
    this.#open(() => this.#nextTurn());
    next.proceed();
  }

  /** The kind of waiting work whose turn it is. */
  #choose(): Work | undefined {
    const { query, write, flush, background } = this.#waiting;
    const hasWrite = write.length > 0;
    const hasBackground = flush.length + background.length > 0;
    if (query.length > 0 && !(this.#wasQuery && (hasWrite || hasBackground))) return 'query';
    const share = flush.length > 0 ? FLUSH_TURNS_PER_WRITE : 1;
    if (hasWrite && (this.#turnsSinceWrite >= share || !hasBackground)) {
      this.#turnsSinceWrite = 0;
      return 'write';
    }
    this.#turnsSinceWrite++;
    return this.#chooseBackground();
  }

  /** Flushes and other background work share the turns of background work. */
  #chooseBackground(): Work {
    const { flush, background } = this.#waiting;
    if (flush.length === 0) return 'background';
    if (background.length > 0 && this.#flushTurns === FLUSH_TURNS) {
      this.#flushTurns = 0;
      return 'background';
    }
    this.#flushTurns = Math.min(FLUSH_TURNS, this.#flushTurns + 1);
    return 'flush';
  }

  #hasWaiting(): boolean {
    const { query, write, flush, background } = this.#waiting;
    return query.length + write.length + flush.length + background.length > 0;
  }
}

/** The first of those with the least rank. */
function leastOf(waiting: readonly Waiting[]): Waiting | undefined {
  let least = waiting[0];
  for (const one of waiting) if (one.rank < least!.rank) least = one;
  return least;
}
