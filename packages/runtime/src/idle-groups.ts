// Finds the groups of a task that have had no points for a while (`task.group-idle-timeout`).
import type { Group } from './data/group.ts';
import type { CancelTimer, Timers } from './timers.ts';

export class IdleGroups {
  readonly #timers: Timers;
  readonly #halfNanos: bigint;
  readonly #forget: (isIdle: (group: Group) => boolean) => boolean;
  #sweep = 0;
  #cancel: CancelTimer | undefined;

  /** `forget` releases the idle groups of the task, and returns false when the task has ended. */
  constructor(
    idleMs: number,
    timers: Timers,
    forget: (isIdle: (group: Group) => boolean) => boolean,
  ) {
    this.#halfNanos = BigInt(Math.ceil(idleMs / 2)) * 1_000_000n;
    this.#timers = timers;
    this.#forget = forget;
  }

  /** Sweeps so far; groups note it when they get a point. */
  get sweep(): number {
    return this.#sweep;
  }

  /** A group is released at the end of the second sweep that has not seen it. */
  start(): void {
    if (this.#halfNanos === 0n) return;
    this.#cancel = this.#timers.at(this.#timers.now() + this.#halfNanos, () => {
      this.#sweep++;
      const oldest = this.#sweep - 2;
      if (this.#forget((group) => group.sweep < oldest && !group.isWhole)) this.start();
    });
  }

  stop(): void {
    this.#cancel?.();
  }
}
