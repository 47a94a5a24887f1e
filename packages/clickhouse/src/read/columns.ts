// Which stored columns a request reads: a field has a column for each type that it has in the shard
// groups of the request.
import { FIELD_TYPES, floatToInt64 } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import type { FieldRef, Predicate } from '@tidemark/query';

import { columnIdOf } from '../ids.ts';
import type { Registry } from '../registry/registry.ts';
import type { PolicyPart } from './parts.ts';
import { conditionFields } from './row-condition.ts';

/** A column of values of one field in one type. */
export type StoredColumn = {
  readonly id: bigint;
  readonly field: string;
  readonly type: FieldType;
  /** Places in the request's list of fields that it fills. */
  readonly places: readonly number[];
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

/** Whether values of a stored type are values to who wants another one. */
function converts(stored: FieldType, wanted: FieldType): boolean {
  return stored === wanted || (isNumeric(stored) && isNumeric(wanted));
}

/** Columns of the fields that are wanted, and of those that only the condition reads. */
export function columnsOf(
  registry: Registry,
  part: PolicyPart,
  wanted: {
    readonly measurement: string;
    readonly fields: readonly FieldRef[];
    readonly where: Predicate | undefined;
  },
): readonly StoredColumn[] {
  const { measurement, fields, where } = wanted;
  const inCondition = new Set(conditionFields(where));
  const names = new Set([...fields.map(({ name }) => name), ...inCondition]);
  return [...names].flatMap((field) => {
    const types = registry.typesOf(part.groups, measurement, field);
    return FIELD_TYPES.filter((type) => types.has(type)).flatMap((type) => {
      const places = fields.flatMap((ref, i) =>
        ref.name === field && converts(type, ref.type) ? [i] : [],
      );
      if (places.length === 0 && !inCondition.has(field)) return [];
      return [{ id: columnIdOf(measurement, field, type), field, type, places }];
    });
  });
}

/** A stored value in the type in which it is wanted; see `converts`. */
export function convertValue(value: FieldValue, wanted: FieldType): FieldValue {
  switch (wanted) {
    case 'float':
      return typeof value === 'bigint' ? Number(value) : value;
    case 'integer':
      return typeof value === 'number' ? floatToInt64(value) : BigInt.asIntN(64, value as bigint);
    case 'unsigned': {
      const integer = typeof value === 'number' ? floatToInt64(value) : (value as bigint);
      return BigInt.asUintN(64, integer);
    }
    default:
      return value;
  }
}
