// The points that the nodes of a task hold, within its limits.
import type { Point } from './data/point.ts';
import { heldBytesOf } from './data/point.ts';
import type { RowSource } from './data/row-source.ts';
import type { TaskLimits } from './running-task.ts';

export class HeldPoints {
  readonly #limits: TaskLimits;
  #count = 0;
  #bytes = 0;

  constructor(limits: TaskLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `source` is the write that is being processed. False when the task holds too many points. */
  hold(point: Point, source: RowSource | undefined): boolean {
    if (this.#count >= this.#limits.heldPointCountMax) return false;
    if (this.#bytes >= this.#limits.heldBytesMax) return false;
    this.#count++;
    this.#bytes += heldBytesOf(point);
    point.holdCount++;
    if (source === undefined) point.detach();
    else source.held.push(point);
    return true;
  }

  release(point: Point): void {
    point.holdCount--;
    this.#count--;
    this.#bytes -= heldBytesOf(point);
  }
}
