// Memory of rows that reducers retain: each keeps all columns of its batch alive until the last row
// of it is dropped.
import { columnBytes } from '@tidemark/core';
import type { Column, FieldValue } from '@tidemark/core';

import type { PointWriter, RowRef } from '../batch/point-writer.ts';
import { STEP_ITEMS } from './steps.ts';
import type { Calculation } from './steps.ts';

/** A point of the result with its own row. */
export type SelectedPoint = {
  readonly time: bigint;
  readonly value: FieldValue;
  readonly row: RowRef;
};

/** Appends points with their own times. */
export function* emitPoints(points: readonly SelectedPoint[], out: PointWriter): Calculation {
  let count = 0;
  for (const { time, value, row } of points) {
    out.append(time, value, row);
    if (++count % STEP_ITEMS === 0) yield;
  }
}

/** Bytes of a retained row besides its batch, approximately. */
const ROW_BYTES = 100;

/** Counts picked rows and the batches that they keep alive as memory of the query. */
export class RetainedRows {
  readonly #hold: (bytes: number) => void;
  readonly #rowsOf = new Map<readonly Column[], number>();
  #bytes = 0;

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  add({ columns }: RowRef): void {
    const count = this.#rowsOf.get(columns) ?? 0;
    this.#rowsOf.set(columns, count + 1);
    this.#count(count === 0 ? ROW_BYTES + batchBytes(columns) : ROW_BYTES);
  }

  drop({ columns }: RowRef): void {
    const left = (this.#rowsOf.get(columns) ?? 0) - 1;
    if (left > 0) this.#rowsOf.set(columns, left);
    else this.#rowsOf.delete(columns);
    this.#count(left > 0 ? -ROW_BYTES : -ROW_BYTES - batchBytes(columns));
  }

  /** Drops all of them. */
  clear(): void {
    this.#rowsOf.clear();
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#hold(bytes);
  }
}

function batchBytes(columns: readonly Column[]): number {
  return columns.reduce((sum, column) => sum + columnBytes(column), 0);
}
