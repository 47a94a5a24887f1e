// fill() over finished rows: values for columns that have none at a time when another column has
// one.
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import { columnLength, columnValue } from '@tidemark/core';
import type { Fill } from '@tidemark/influxql';

import { ColumnBuilder } from '../batch/column-builder.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { castNumber } from './fill.ts';
import type { CallsPlan } from '../plan/calls-plan.ts';

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

/** Defaults for the rows of one group after another. */
export class RowDefaults {
  readonly #columns: readonly (ColumnDefaults | undefined)[] | undefined;

  /** Columns for which `isLeft` holds are left as they are by fill(number). */
  constructor(
    fill: Fill,
    types: readonly FieldType[],
    isLeft: (type: FieldType, i: number) => boolean,
  ) {
    if (fill.kind === 'previous') {
      this.#columns = types.map((type) => new ColumnDefaults(type, undefined));
    } else if (fill.kind === 'number') {
      this.#columns = types.map((type, i) =>
        isLeft(type, i) ? undefined : new ColumnDefaults(type, castNumber(fill.value, type)),
      );
    }
  }

  startGroup(): void {
    for (const column of this.#columns ?? []) column?.reset();
  }

  apply(columns: readonly Column[]): readonly Column[] {
    const defaults = this.#columns;
    return defaults === undefined
      ? columns
      : columns.map((column, i) => defaults[i]?.apply(column) ?? column);
  }
}

/** Those of rows over a plan's calls. */
export function callDefaults({ plan, types }: CallsPlan): RowDefaults {
  return new RowDefaults(plan.fill, types, (type, i) => hasNoDefault(plan, i, type));
}

/** Those of the inputs of a raw query; the last step sets the number in columns of texts. */
export function rawDefaults({ fill, inputs }: SelectPlan): RowDefaults {
  const types = inputs.map((input) => (input.kind === 'field' ? input.type : 'string'));
  return new RowDefaults(fill, types, isText);
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
