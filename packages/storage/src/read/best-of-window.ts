// The best rows of one window, at most so many, and of these only one of each combination of tags
// if tags are to differ. Rows come series by series, in any order of the series.
import { columnValue } from '@tidemark/core';
import type { Column, FieldValue } from '@tidemark/core';
import type { BestRows } from '@tidemark/query';

import type { SeriesId } from '../columns/series-id.ts';
import { valuesOf } from '../columns/run.ts';

/** A row that is among the best so far. */
export type BestRow = {
  readonly value: FieldValue;
  readonly time: bigint;
  readonly series: SeriesId;
  /** Of its tags; `undefined` if they need not differ. */
  readonly combination: string | undefined;
  /** Another row has the same value and time, and might as well be in its place. */
  isTied: boolean;
};

export type BestOptions = {
  readonly wanted: Pick<BestRows, 'order' | 'count'>;
  /** Tells series with other values of the tags apart; absent if rows of the same may be kept. */
  readonly combinationOf: ((series: SeriesId) => string) | undefined;
  /** Whether rows of a combination with the same value and time may differ in the answer. */
  readonly tellsApart: boolean;
};

export class BestOfWindow {
  readonly #options: BestOptions;
  /** The best one first. */
  readonly #rows: BestRow[] = [];
  readonly #byCombination = new Map<string, BestRow>();

  constructor(options: BestOptions) {
    this.#options = options;
  }

  /** Whether it depends on the order in which series are merged which rows are the best. */
  get isTied(): boolean {
    return this.#rows.some((row, i) => {
      const next = this.#rows[i + 1];
      return row.isTied || (next !== undefined && this.#compare(row, next) === 0);
    });
  }

  /** In the order of their times; none are tied. */
  inOrder(descending: boolean): readonly BestRow[] {
    const direction = descending ? -1 : 1;
    const ranks = new Map(this.#rows.map((row, rank) => [row, rank]));
    return this.#rows.toSorted((a, b) => {
      if (a.time !== b.time) return a.time < b.time ? -direction : direction;
      return ranks.get(a)! - ranks.get(b)!;
    });
  }

  get length(): number {
    return this.#rows.length;
  }

  /** Whether no row with a value that is at most (for `bottom`, at least) this one can be kept. */
  isHopeless(value: FieldValue): boolean {
    const worst = this.#worst;
    if (worst === undefined) return false;
    const { order } = this.#options.wanted;
    return order === 'top' ? value < worst.value : order === 'bottom' && value > worst.value;
  }

  /** The row that others have to be better than, if there are enough rows. */
  get #worst(): BestRow | undefined {
    return this.#rows[this.#options.wanted.count - 1];
  }

  /** Adds rows `[from, to)` of a series, in the order of time; nulls are no values. */
  add(series: SeriesId, { times, column }: Rows, from: number, to: number): void {
    switch (this.#options.wanted.order) {
      case 'first':
      case 'last':
        return this.#addEnd(series, { times, column }, from, to);
      case 'top':
      case 'bottom':
        return this.#addAll(series, { times, column }, from, to);
    }
  }

  #addEnd(series: SeriesId, { times, column }: Rows, from: number, to: number): void {
    const isLast = this.#options.wanted.order === 'last';
    for (let i = from; i < to; i++) {
      const row = isLast ? to - 1 - (i - from) : i;
      const value = columnValue(column, row);
      if (value === null) continue;
      this.#offer(value, times[row]!, series);
      return;
    }
  }

  #addAll(series: SeriesId, { times, column }: Rows, from: number, to: number): void {
    const isTop = this.#options.wanted.order === 'top';
    const { valid } = column;
    const values: ArrayLike<FieldValue> = valuesOf(column);
    let worst = this.#worst?.value;
    for (let row = from; row < to; row++) {
      const value = values[row]!;
      if (worst !== undefined && (isTop ? value < worst : value > worst)) continue;
      if (valid !== undefined && valid[row] !== 1) continue;
      this.#offer(value, times[row]!, series);
      worst = this.#worst?.value;
    }
  }

  #offer(value: FieldValue, time: bigint, series: SeriesId): void {
    const { combinationOf, tellsApart } = this.#options;
    const combination = combinationOf?.(series);
    const row: BestRow = { value, time, series, combination, isTied: false };
    const known = combination === undefined ? undefined : this.#byCombination.get(combination);
    const rival = known ?? this.#worst;
    const order = rival === undefined ? -1 : this.#compare(row, rival);
    if (rival !== undefined && order === 0) rival.isTied ||= known === undefined || tellsApart;
    if (order >= 0) return;
    if (rival !== undefined) this.#remove(rival, known === undefined);
    this.#insert(row);
  }

  #remove(row: BestRow, isWorst: boolean): void {
    this.#rows.splice(this.#rows.indexOf(row), 1);
    if (row.combination !== undefined) this.#byCombination.delete(row.combination);
    const next = isWorst ? this.#rows.at(-1) : undefined;
    if (next !== undefined && this.#compare(row, next) === 0) next.isTied = true;
  }

  #insert(row: BestRow): void {
    if (row.combination !== undefined) this.#byCombination.set(row.combination, row);
    const rows = this.#rows;
    let low = 0;
    for (let high = rows.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.#compare(rows[middle]!, row) <= 0) low = middle + 1;
      else high = middle;
    }
    rows.splice(low, 0, row);
  }

  /** Negative if `a` is the better one; 0 if they are tied. */
  #compare(a: BestRow, b: BestRow): number {
    const { order } = this.#options.wanted;
    if (order === 'first' || order === 'last') {
      if (a.time === b.time) return 0;
      return a.time < b.time === (order === 'first') ? -1 : 1;
    }
    // Equal are also the two zeros.
    if (a.value > b.value) return order === 'top' ? -1 : 1;
    if (a.value < b.value) return order === 'top' ? 1 : -1;
    if (a.time === b.time) return 0;
    return a.time < b.time ? -1 : 1;
  }
}

type Rows = { readonly times: BigInt64Array; readonly column: Column };
