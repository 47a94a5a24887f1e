// Columns and batches: how rows travel between storage, operators and task nodes
// (docs/adr/0001-int64.md).
import type { FieldType, FieldValue } from './field-type.ts';
import { NO_TEXTS, textAt, TextBuilder } from './texts.ts';
import type { Texts } from './texts.ts';

/**
 * Which rows of a column hold a value: one byte per row, 1 = value, 0 = null. `undefined` means
 * that all do. What the value array holds at a null row is unspecified.
 */
export type Validity = Uint8Array | undefined;

export type FloatColumn = {
  readonly type: 'float';
  readonly values: Float64Array;
  readonly valid: Validity;
};
export type IntegerColumn = {
  readonly type: 'integer';
  readonly values: BigInt64Array;
  readonly valid: Validity;
};
export type UnsignedColumn = {
  readonly type: 'unsigned';
  readonly values: BigUint64Array;
  readonly valid: Validity;
};
export type BooleanColumn = {
  readonly type: 'boolean';
  /** 0 or 1 per row. */
  readonly values: Uint8Array;
  readonly valid: Validity;
};
/**
 * Row `i` holds text `codes[i]` of `texts`. Texts may repeat and may be unused, so that rows are
 * selected, sliced and joined without touching their texts.
 */
export type StringColumn = {
  readonly type: 'string';
  readonly codes: Uint32Array;
  readonly texts: Texts;
  readonly valid: Validity;
};

/** A typed column. Its producer does not change it after handing it out. */
export type Column = FloatColumn | IntegerColumn | UnsignedColumn | BooleanColumn | StringColumn;

/** Number of rows. */
export function columnLength(column: Column): number {
  return column.type === 'string' ? column.codes.length : column.values.length;
}

/** Whether the row holds a value. */
export function isValid(column: Column, row: number): boolean {
  return column.valid === undefined || column.valid[row] === 1;
}

/**
 * The row's value as a scalar, `null` when there is none. For the edges of the system (encoders,
 * tests), not for hot loops.
 */
export function columnValue(column: Column, row: number): FieldValue | null {
  if (!isValid(column, row)) return null;
  switch (column.type) {
    case 'string':
      return textAt(column.texts, column.codes[row]!);
    case 'boolean':
      return column.values[row] === 1;
    default:
      return column.values[row] ?? null;
  }
}

/**
 * Builds a column from scalars; `null` and `undefined` become nulls. For the edges of the system
 * and tests, not for hot loops.
 */
export function columnFrom(
  type: FieldType,
  values: readonly (FieldValue | null | undefined)[],
): Column {
  const hasNulls = values.some((v) => v === null || v === undefined);
  const valid = hasNulls
    ? Uint8Array.from(values, (v) => (v === null || v === undefined ? 0 : 1))
    : undefined;
  switch (type) {
    case 'float':
      return { type, valid, values: Float64Array.from(values, (v) => Number(v ?? 0)) };
    case 'integer':
      return { type, valid, values: BigInt64Array.from(values, (v) => BigInt(v ?? 0)) };
    case 'unsigned':
      return { type, valid, values: BigUint64Array.from(values, (v) => BigInt(v ?? 0)) };
    case 'boolean':
      return { type, valid, values: Uint8Array.from(values, (v) => (v === true ? 1 : 0)) };
    case 'string': {
      const texts = new TextBuilder(values.length);
      const codes = Uint32Array.from(values, (v) => {
        return v === null || v === undefined ? 0 : texts.add(String(v));
      });
      return { type, valid, codes, texts: texts.count === 0 ? NO_TEXTS : texts.texts };
    }
  }
}
