// fill() over finished rows: values for columns that have none at a time when another column has
// one.
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import { columnLength, columnValue } from '@tidemark/core';

import { ColumnBuilder } from '../batch/column-builder.ts';
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { castNumber } from './fill.ts';
import type { CallsPlan } from '../plan/calls-plan.ts';
import type { AlignedRows } from '../batch/point-batch.ts';

/** Replaces nulls of one column by the value before or by a number. */
class ColumnDefaults {
  readonly #type: FieldType;
  readonly #constant: FieldValue | undefined;
  #previous: FieldValue | null = null;

  constructor(type: FieldType, constant: FieldValue | undefined) {
    this.#type = type;
    this.#constant = constant;
  }

  reset(): void {
    this.#previous = null;
  }

  apply(column: Column): Column {
    const length = columnLength(column);
    if (column.valid === undefined) {
      if (length > 0) this.#previous = columnValue(column, length - 1);
      return column;
    }
    const out = new ColumnBuilder(this.#type);
    for (let row = 0; row < length; row++) {
      let value = columnValue(column, row);
      if (value === null) value = this.#constant ?? this.#previous;
      else this.#previous = value;
      out.append(value);
    }
    return out.take();
  }
}

/** Defaults for the rows over a plan's calls. */
export class RowDefaults {
  readonly #columns: readonly (ColumnDefaults | undefined)[] | undefined;

  constructor({ plan, types }: CallsPlan) {
    const { fill } = plan;
    if (fill.kind === 'number') {
      this.#columns = types.map((type, i) =>
        hasNoDefault(plan, i, type)
          ? undefined
          : new ColumnDefaults(type, castNumber(fill.value, type)),
      );
    } else if (fill.kind === 'previous') {
      this.#columns = types.map((type) => new ColumnDefaults(type, undefined));
    }
  }

  startGroup(): void {
    for (const column of this.#columns ?? []) column?.reset();
  }

  apply(rows: AlignedRows): readonly Column[] {
    const columns = this.#columns;
    if (columns === undefined) return rows.columns;
    return rows.columns.map((column, i) => columns[i]?.apply(column) ?? column);
  }
}

/** fill(previous) and fill(number) of a raw query, on its inputs. */
export class RawFiller {
  readonly #columns: readonly (ColumnDefaults | undefined)[] | undefined;
  #group: GroupKey | undefined;

  constructor(plan: SelectPlan) {
    const { fill } = plan;
    if (fill.kind !== 'number' && fill.kind !== 'previous') return;
    this.#columns = plan.inputs.map((input) => {
      const type = input.kind === 'field' ? input.type : 'string';
      if (fill.kind !== 'number') return new ColumnDefaults(type, undefined);
      // A number does not fit into a column of texts; the last step sets it there (see
      // `to-results.ts`).
      if (isText(type)) return undefined;
      return new ColumnDefaults(type, castNumber(fill.value, type));
    });
  }

  fill(batch: RowBatch): readonly Column[] {
    if (this.#columns === undefined) return batch.columns;
    if (batch.group !== this.#group) {
      this.#group = batch.group;
      for (const column of this.#columns) column?.reset();
    }
    return batch.columns.map((column, i) => this.#columns?.[i]?.apply(column) ?? column);
  }
}

/**
 * Calls of unknown fields stay null; columns of texts get their number in the last step
 * (`to-results.ts`).
 */
function hasNoDefault(plan: SelectPlan, index: number, type: FieldType): boolean {
  const call = plan.calls[index];
  if (call === undefined || isText(type)) return isText(type);
  return call.input === undefined && !call.hasFixedType;
}

/** Types of columns that a number does not fit into. */
export function isText(type: FieldType): boolean {
  return type === 'string' || type === 'boolean';
}
