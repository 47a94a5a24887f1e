// Who may work next in the storage thread. What is done between two rounds of the event loop shares
// one slice of a few milliseconds; when it is used up, whoever wants more waits for a later round.
// A query that waits comes next, unless a query has had the turn before and others wait: those take
// turns, a flush two for each of the writes. So a query that comes alone waits for the slice under
// way and no other, and a write for five slices at most.
import type { Clock } from '@tidemark/core';

export type Work = 'write' | 'query' | 'flush' | 'background';

/**
 * Turns of a flush for each of a compaction when both wait: writes may wait for the room that the
 * flush makes.
 */
const FLUSH_TURNS = 3;

/**
 * Turns of a flush for each of the writes when both wait. With one, a load fills the next memtable
 * before the last one is in its file: more memory, and more of the log to read after a crash.
 */
const FLUSH_TURNS_PER_WRITE = 2;

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
  readonly #waiting: Readonly<Record<Work, (() => void)[]>> = {
    query: [],
    write: [],
    flush: [],
    background: [],
  };
  /** Turns that a flush had since other background work had one. */
  #flushTurns = 0;
  /** The last turn was a query's. */
  #wasQuery = false;
  /** Turns of background work since writes had one. */
  #turnsSinceWrite = FLUSH_TURNS_PER_WRITE;
  #sliceEnd = Number.NEGATIVE_INFINITY;
  /** Something has begun to work in this round of the event loop. */
  #isTaken = false;

  constructor({ clock, sliceMs, nextRound }: TurnsOptions) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
    this.#nextRound = nextRound ?? ((run) => void setImmediate(run));
  }

  /** Whether the slice is used up: who works must `enter` again before it goes on. */
  get isOver(): boolean {
    return this.#clock.monotonicMs() >= this.#sliceEnd;
  }

  /**
   * Resolves when work of this kind may begin or go on; at once, without a promise, while there is
   * time.
   */
  enter(work: Work): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#wasQuery = work === 'query';
      // Messages are read once more before the next turn, so that a query that has come meanwhile
      // is among those that wait: whoever begins at once does so while they are read, and the next
      // round follows right behind.
      this.#open(() => this.#nextRound(() => this.#nextTurn()));
      return undefined;
    }
    if (!this.#hasWaiting() && !this.isOver) return undefined;
    return new Promise((resolve) => {
      this.#waiting[work].push(resolve);
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
    const proceed = work === undefined ? undefined : this.#waiting[work].shift();
    if (proceed === undefined) return;
    this.#wasQuery = work === 'query';
    this.#open(() => this.#nextTurn());
    proceed();
  }

  /** Whose turn it is of those that wait. */
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

  /** Flushes and other background work share a place. */
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
