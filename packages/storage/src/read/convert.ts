// Converts columns to the types that a query asks for (`FieldRef` in the query package).
import { floatToInt64 } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';

/** A field to read. Without a type, values keep the stored one. */
export type WantedField = { readonly name: string; readonly type?: FieldType | undefined };

/** Whether values of a stored type can be converted to the wanted type. If not, they are nulls. */
export function converts(stored: FieldType, wanted: FieldType): boolean {
  return stored === wanted || (isNumber(stored) && isNumber(wanted));
}

function isNumber(type: FieldType): boolean {
  return type !== 'string' && type !== 'boolean';
}

/** `undefined` when the types do not convert: then all values are null. */
export function convertColumn(column: Column, wanted: FieldType): Column | undefined {
  if (column.type === wanted) return column;
  const { valid } = column;
  if (column.type === 'string' || column.type === 'boolean') return undefined;
  const { values } = column;
  switch (wanted) {
    case 'float':
      return {
        type: wanted,
        values: Float64Array.from(values, (v: number | bigint) => Number(v)),
        valid,
      };
    case 'integer':
      return { type: wanted, values: toInt64(values), valid };
    case 'unsigned':
      return { type: wanted, values: new BigUint64Array(toInt64(values).buffer), valid };
    default:
      return undefined;
  }
}

function toInt64(values: Float64Array | BigInt64Array | BigUint64Array): BigInt64Array {
  const result = new BigInt64Array(values.length);
  if (values instanceof Float64Array) {
    for (let i = 0; i < result.length; i++) {
      result[i] = floatToInt64(values[i]!);
    }
  } else for (let i = 0; i < result.length; i++) result[i] = BigInt.asIntN(64, values[i]!);
  return result;
}
