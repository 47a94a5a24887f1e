// Whose turn it is: the tasks of a host that have work run one after another, in rounds between
// which the host reads its messages.
import type { Clock } from '@tidemark/core';
import type { HostTask } from './host-task.ts';

/** The loop checks for messages at least this often. */
const ROUND_MS = 16;

type TurnOptions = {
  readonly clock: Clock;
  /** Whether no task may run now; `schedule` has to be called when that changes. */
  readonly isHeldUp: () => boolean;
  readonly afterRound: () => void;
};

export class TaskTurns {
  readonly #options: TurnOptions;
  readonly #runnable: HostTask[] = [];
  #isRoundDue = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** Queues a task for its turn if it has work. */
  add(task: HostTask): void {
    if (!task.canRun || task.isLinedUp) return;
    task.isLinedUp = true;
    this.#runnable.push(task);
    this.schedule();
  }

  schedule(): void {
    if (this.#isRoundDue || this.#runnable.length === 0) return;
    this.#isRoundDue = true;
    setImmediate(() => this.#round());
  }

  #round(): void {
    this.#isRoundDue = false;
    const { clock, isHeldUp, afterRound } = this.#options;
    const until = clock.monotonicMs() + ROUND_MS;
    do {
      if (isHeldUp()) break;
      const task = this.#runnable.shift();
      if (task === undefined) break;
      task.isLinedUp = false;
      task.turn();
      this.add(task);
    } while (clock.monotonicMs() < until);
    afterRound();
    if (!isHeldUp()) this.schedule();
  }
}
