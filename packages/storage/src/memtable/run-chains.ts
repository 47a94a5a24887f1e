// Linked lists of runs, one per series, newest first. They find the rows of a series in a large
// table. Every row belongs to a run, which ends where the next one begins.
import type { Uint32List } from '../columns/uint32-list.ts';
import { PagedNumbers } from './paged-numbers.ts';

export class RunChains {
  /**
   * Numbers of runs plus one, 0 for none: the newest run by ordinal of the series, and the previous
   * run of the same series by run.
   */
  readonly #newest = new PagedNumbers();
  readonly #before = new PagedNumbers();
  readonly #firstOf = new PagedNumbers();
  #runs = 0;

  get memoryBytes(): number {
    return this.#newest.memoryBytes + this.#before.memoryBytes + this.#firstOf.memoryBytes;
  }

  /** Adds the run that begins at this row. Rows ascend from call to call. */
  add(ordinal: number, firstRow: number): void {
    const run = this.#runs++;
    this.#firstOf.set(run, firstRow);
    this.#before.set(run, this.#newest.get(ordinal));
    this.#newest.set(ordinal, run + 1);
  }

  /** Adds the rows of a series to the list, in the order of arrival. */
  listRows(ordinal: number, bounds: RowBounds, list: Uint32List): void {
    const { from, limit } = bounds;
    const newest = this.#newestBelow(ordinal, limit);
    let count = 0;
    let oldest = newest;
    for (; oldest > 0; oldest = this.#before.get(oldest - 1)) {
      const end = Math.min(limit, this.#endOf(oldest - 1, bounds));
      if (end <= from) break;
      count += end - Math.max(from, this.#firstOf.get(oldest - 1));
    }
    let at = list.extend(count);
    for (let s = newest; s !== oldest; s = this.#before.get(s - 1)) {
      const end = Math.min(limit, this.#endOf(s - 1, bounds));
      at = list.fillBefore(at, Math.max(from, this.#firstOf.get(s - 1)), end);
    }
  }

  /** The first ordinal in [from, end) whose series has rows; `end` when there is none. */
  nextOrdinal(from: number, end: number): number {
    return this.#newest.nextSet(from, end);
  }

  hasRows(ordinal: number, limit: number): boolean {
    return this.#newestBelow(ordinal, limit) > 0;
  }

  #endOf(run: number, { rows }: RowBounds): number {
    return run + 1 < this.#runs ? this.#firstOf.get(run + 1) : rows;
  }

  /** The newest run of a series that begins below `limit`, plus one; 0 when there is none. */
  #newestBelow(ordinal: number, limit: number): number {
    let run = this.#newest.get(ordinal);
    while (run > 0 && this.#firstOf.get(run - 1) >= limit) {
      run = this.#before.get(run - 1);
    }
    return run;
  }
}

/** Rows to list: [from, limit). The table has `rows` rows. */
export type RowBounds = { readonly from: number; readonly limit: number; readonly rows: number };
