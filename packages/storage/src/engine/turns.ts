// Who may work next in the storage thread. What is done between two rounds of the event loop shares one slice of a few
// milliseconds; when it is used up, whoever wants more waits for a later round, where writes, queries and background
// work take turns. So nobody waits longer than for a slice of each of the others.
import type { Clock } from '@tidemark/core';

export type Work = 'write' | 'query' | 'flush' | 'background';

/** Flushes and other background work share one place in the round. */
const ROUND: readonly Work[] = ['query', 'write', 'background'];
/** Turns of a flush for each of a compaction when both wait: writes may wait for the room that the flush makes. */
const FLUSH_TURNS = 3;

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
  /** Place in `ROUND` of the kind of work that comes next. */
  #next = 0;
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

  /** Resolves when work of this kind may begin or go on; at once, without a promise, while there is time. */
  enter(work: Work): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#open();
      return undefined;
    }
    if (!this.#hasWaiting() && !this.isOver) return undefined;
    return new Promise((resolve) => {
      this.#waiting[work].push(resolve);
    });
  }

  #open(): void {
    this.#isTaken = true;
    this.#sliceEnd = this.#clock.monotonicMs() + this.#sliceMs;
    this.#nextRound(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isTaken = false;
    for (let i = 0; i < ROUND.length; i++) {
      const at = (this.#next + i) % ROUND.length;
      const proceed = this.#waiting[this.#kindAt(at)].shift();
      if (proceed === undefined) continue;
      this.#next = at + 1;
      this.#open();
      proceed();
      return;
    }
  }

  /** Whose turn it is at a place of the round. */
  #kindAt(place: number): Work {
    const kind = ROUND[place]!;
    const { flush, background } = this.#waiting;
    if (kind !== 'background' || flush.length === 0) return kind;
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
