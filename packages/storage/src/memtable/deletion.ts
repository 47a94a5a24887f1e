// The rows that a delete removes, by measurement. A table of a memtable that loses rows is replaced
// by a copy without them. The copy can be prepared in steps while the table is read and grows: then
// only rows that came since are looked at when the delete takes effect.
import type { TimeRange } from '@tidemark/core';

import { SeriesSet } from '../series/series-set.ts';
import type { DeletedRows } from '../wal/wal-record.ts';
import type { RowsLeft, Table } from './table.ts';

/** The rows that are left among the first `rows` rows of a table. */
type Copy = { readonly kept: Table; rows: number };

export class Deletion {
  readonly #timeRange: TimeRange;
  readonly #rows = new Map<number, DeletedRows>();
  readonly #series = new SeriesSet();
  readonly #copies = new Map<Table, Copy>();

  constructor(timeRange: TimeRange, rows: readonly DeletedRows[] = []) {
    this.#timeRange = timeRange;
    for (const part of rows) this.add(part);
  }

  /** Deletes rows of these series too. No copy has looked at any of their rows yet. */
  add({ measurementId, series }: DeletedRows): void {
    const before = this.#rows.get(measurementId);
    if (before !== undefined && before.series === undefined) return;
    this.#rows.set(measurementId, { measurementId, series: series && joined(before, series) });
    if (series !== undefined) for (const id of series) this.#series.add(id);
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** One for each measurement, the series ascending. */
  get rows(): readonly DeletedRows[] {
    return [...this.#rows.values()];
  }

  measurementIds(): Iterable<number> {
    return this.#rows.keys();
  }

  /** Copies what is left of the rows that are in the table now. Returns whether there are more. */
  prepareSome(table: Table): boolean {
    const copy = this.#copyOf(table);
    if (copy.rows < table.rows) this.#copySome(table, copy);
    return copy.rows < table.rows;
  }

  /** The table without the deleted rows: itself when it has none, `undefined` when none is left. */
  apply(table: Table): Table | undefined {
    const copy = this.#copyOf(table);
    while (copy.rows < table.rows) this.#copySome(table, copy);
    if (copy.kept.rows === table.rows) return table;
    return copy.kept.rows === 0 ? undefined : copy.kept;
  }

  #copyOf(table: Table): Copy {
    let copy = this.#copies.get(table);
    if (copy === undefined) {
      copy = { kept: table.empty(), rows: 0 };
      this.#copies.set(table, copy);
    }
    return copy;
  }

  #copySome(table: Table, copy: Copy): void {
    copy.rows = table.copySome(copy.kept, copy.rows, this.#rowsLeft);
  }

  /** Rows among [from, to) of a block that are not deleted. */
  readonly #rowsLeft: RowsLeft = (block, from, to) => {
    const { start, end } = this.#timeRange;
    const { min, max } = block.timeBounds;
    if (max < start || end < min) return undefined;
    const isInRange = start <= min && max <= end;
    const isWhole = this.#rows.get(block.measurementId)?.series === undefined;
    const left: number[] = [];
    if (isInRange && isWhole) return left;
    for (let row = from; row < to; row++) {
      const isOfSeries = isWhole || this.#series.has(block.series[row]!);
      const isDeleted = isOfSeries && (isInRange || isWithin(block.times[row]!, start, end));
      if (!isDeleted) left.push(row);
    }
    return left.length === to - from ? undefined : left;
  };
}

function joined(before: DeletedRows | undefined, series: Uint32Array): Uint32Array {
  const first = before?.series ?? NO_SERIES;
  const isInOrder = isAscending(series) && (first.at(-1) ?? 0) <= (series[0] ?? 0);
  if (first.length === 0 && isInOrder) return series;
  const ids = new Uint32Array(first.length + series.length);
  ids.set(first);
  ids.set(series, first.length);
  return isInOrder ? ids : ids.sort();
}

const NO_SERIES = new Uint32Array(0);

function isAscending(ids: Uint32Array): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i]! < ids[i - 1]!) return false;
  return true;
}

function isWithin(time: bigint, start: bigint, end: bigint): boolean {
  return start <= time && time <= end;
}
