// Which stored columns a request reads: a field has a column for each type that it has in the shard
// groups of the request.
import { FIELD_TYPES, MIN_INT64 } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import type { FieldRef } from '@tidemark/query';

import { columnIdOf } from '../ids.ts';
import type { Registry } from '../shared/registry.ts';
import { sqlInt64 } from '../sql/literals.ts';
import type { PolicyPart } from './parts.ts';

/** A column of values of one field in one type. */
export type StoredColumn = {
  readonly id: bigint;
  readonly field: string;
  readonly type: FieldType;
  /** Places in the request's list of fields that it fills. */
  readonly fieldIndexes: readonly number[];
};

/** Where a type has its values: columns of the table. */
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

/** Whether a request for one type reads values that are stored in another one. */
function converts(stored: FieldType, wanted: FieldType): boolean {
  return stored === wanted || (isNumeric(stored) && isNumeric(wanted));
}

/** Columns of the fields that are wanted. */
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

/** Columns of one stored type that are wanted in one type. */
export type TypedColumns = {
  readonly stored: FieldType;
  readonly type: FieldType;
  /** With the fieldIndexes in the request that they fill. */
  readonly columns: readonly { readonly column: StoredColumn; readonly fieldIndex: number }[];
};

/** One for every pair of types. `wanted` has the type of every fieldIndex. */
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
 * SQL of a stored value in the type in which it is wanted (`FieldRef` of the query package), over
 * the columns `f`, `i` and `s`; booleans are 0 and 1.
 */
export function valueSql({ stored, type }: Pick<TypedColumns, 'stored' | 'type'>): string {
  if (stored === 'string') return 's';
  if (stored === 'float') {
    if (type === 'float') return 'f';
    // Beyond the bounds of an int64 it becomes the smallest.
    const bound = '9223372036854775808.';
    const integer = `if(f >= -${bound} AND f < ${bound}, toInt64(f), ${sqlInt64(MIN_INT64)})`;
    return type === 'unsigned' ? `toUInt64(${integer})` : integer;
  }
  if (type === 'unsigned') return 'toUInt64(i)';
  if (type === 'float') return stored === 'unsigned' ? 'toFloat64(toUInt64(i))' : 'toFloat64(i)';
  return 'i';
}
