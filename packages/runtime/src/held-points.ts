// The points that the nodes of a task hold, within its limits.
import type { Point } from './data/point.ts';
import { heldBytesOf, heldRowBytes } from './data/point.ts';
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
    if (this.#isFull()) return false;
    this.#count++;
    this.#bytes += heldBytesOf(point);
    point.holdCount++;
    if (source === undefined) point.detach();
    else source.held.push(point);
    return true;
  }

  /** Counts a point that a node keeps in columns. False when the task holds too many points. */
  holdRow(fieldCount: number): boolean {
    if (this.#isFull()) return false;
    this.#count++;
    this.#bytes += heldRowBytes(fieldCount);
    return true;
  }

  /** The opposite of `holdRow`, for some points. */
  releaseRows(count: number, fieldCount: number): void {
    this.#count -= count;
    this.#bytes -= count * heldRowBytes(fieldCount);
  }

  release(point: Point, source: RowSource | undefined): void {
    point.holdCount--;
    this.#count--;
    this.#bytes -= heldBytesOf(point);
    // Many are held for a moment: the write need not keep them.
    const held = point.holdCount === 0 ? source?.held : undefined;
    if (held !== undefined && held[held.length - 1] === point) held.pop();
  }

  #isFull(): boolean {
    const { heldPointCountMax, heldBytesMax } = this.#limits;
    return this.#count >= heldPointCountMax || this.#bytes >= heldBytesMax;
  }
}
