// The stored columns that a request reads: a field has one column for each type that it has in the
// shard groups of the request.
import { FIELD_TYPES, MIN_INT64 } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import type { FieldRef } from '@tidemark/query';

import { columnIdOf } from '../ids.ts';
import type { Registry } from '../shared/registry.ts';
import { sqlInt64 } from '../sql/literals.ts';
import type { PolicyPart } from './parts.ts';

/** The values of one field in one type. */
export type StoredColumn = {
  readonly id: bigint;
  readonly field: string;
  readonly type: FieldType;
  /** Indexes in the request's list of fields for which it provides values. */
  readonly fieldIndexes: readonly number[];
};

/** The column of the table that holds values of a type. */
export const VALUE_COLUMN: Readonly<Record<FieldType, 'f' | 'i' | 's'>> = {
  float: 'f',
  integer: 'i',
  unsigned: 'i',
  boolean: 'i',
  string: 's',
};

function isNumeric(type: FieldType): boolean {
  return type !== 'string' && type !== 'boolean';
}

/** Whether values of a stored type are read for a requested type. */
function converts(stored: FieldType, wanted: FieldType): boolean {
  return stored === wanted || (isNumeric(stored) && isNumeric(wanted));
}

/** The stored columns of the requested fields. */
export function columnsOf(
  registry: Registry,
  part: PolicyPart,
  { measurement, fields }: { readonly measurement: string; readonly fields: readonly FieldRef[] },
): readonly StoredColumn[] {
  return [...new Set(fields.map(({ name }) => name))].flatMap((field) => {
    const types = registry.typesOf(part.groups, measurement, field);
    return FIELD_TYPES.filter((type) => types.has(type)).flatMap((type) => {
      const fieldIndexes = fields.flatMap((ref, i) =>
        ref.name === field && converts(type, ref.type) ? [i] : [],
      );
      if (fieldIndexes.length === 0) return [];
      return [{ id: columnIdOf(measurement, field, type), field, type, fieldIndexes }];
    });
  });
}

/** Columns with the same stored and requested type. */
export type TypedColumns = {
  readonly stored: FieldType;
  readonly type: FieldType;
  /** Each with the index of the field for which it provides values. */
  readonly columns: readonly { readonly column: StoredColumn; readonly fieldIndex: number }[];
};

/** Groups columns by stored and requested type. `wanted` has the requested type by field index. */
export function byTypes(
  columns: readonly StoredColumn[],
  wanted: readonly { readonly type: FieldType }[],
): readonly TypedColumns[] {
  const pairs = new Map<string, { column: StoredColumn; fieldIndex: number }[]>();
  for (const column of columns) {
    for (const fieldIndex of column.fieldIndexes) {
      const key = `${column.type} ${wanted[fieldIndex]!.type}`;
      const held = pairs.get(key);
      if (held === undefined) pairs.set(key, [{ column, fieldIndex }]);
      else held.push({ column, fieldIndex });
    }
  }
  return Array.from(pairs.values(), (held) => ({
    stored: held[0]!.column.type,
    type: wanted[held[0]!.fieldIndex]!.type,
    columns: held,
  }));
}

/**
 * SQL that converts a stored value to the requested type (`FieldRef` of the query package), from
 * the columns `f`, `i` and `s`; booleans are 0 and 1.
 */
export function valueSql({ stored, type }: Pick<TypedColumns, 'stored' | 'type'>): string {
  if (stored === 'string') return 's';
  if (stored === 'float') {
    if (type === 'float') return 'f';
    // Values beyond an int64 become the smallest int64.
    const bound = '9223372036854775808.';
    const integer = `if(f >= -${bound} AND f < ${bound}, toInt64(f), ${sqlInt64(MIN_INT64)})`;
    return type === 'unsigned' ? `toUInt64(${integer})` : integer;
  }
  if (type === 'unsigned') return 'toUInt64(i)';
  if (type === 'float') return stored === 'unsigned' ? 'toFloat64(toUInt64(i))' : 'toFloat64(i)';
  return 'i';
}
