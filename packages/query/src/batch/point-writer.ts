// Collects the points that a reducer or a fill emits.
import type { Column, FieldType, FieldValue } from '@tidemark/core';

import { ColumnBuilder, TimeBuilder } from './column-builder.ts';
import type { PointBatch } from './point-batch.ts';

/** A row of a batch that is kept alive by the reference. */
export type RowRef = { readonly columns: readonly Column[]; readonly row: number };

export class PointWriter {
  readonly #times = new TimeBuilder();
  readonly #value: ColumnBuilder;
  readonly #auxiliary: readonly ColumnBuilder[];
  readonly #auxiliaryInputs: readonly number[];

  constructor(
    type: FieldType,
    auxiliary: readonly { readonly input: number; readonly type: FieldType }[],
  ) {
    this.#value = new ColumnBuilder(type);
    this.#auxiliary = auxiliary.map((column) => new ColumnBuilder(column.type));
    this.#auxiliaryInputs = auxiliary.map((column) => column.input);
  }

  get rowCount(): number {
    return this.#times.length;
  }

  /** Appends a point; auxiliary columns come from the selected row, if there is one. */
  append(time: bigint, value: FieldValue | null, selected?: RowRef): void {
    this.#times.append(time);
    this.#value.append(value);
    for (let i = 0; i < this.#auxiliary.length; i++) {
      const column = selected?.columns[this.#auxiliaryInputs[i]!];
      if (column === undefined || selected === undefined) this.#auxiliary[i]!.append(null);
      else this.#auxiliary[i]!.appendRow(column, selected.row);
    }
  }

  take(): PointBatch {
    const times = this.#times.take();
    const columns = [this.#value.take(), ...this.#auxiliary.map((builder) => builder.take())];
    return { times, columns };
  }
}
