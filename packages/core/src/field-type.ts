// The five types a field value can have.

/** Type of a field. Tags are always strings and have no field type. */
export type FieldType = 'float' | 'integer' | 'unsigned' | 'string' | 'boolean';

export const FIELD_TYPES: readonly FieldType[] = [
  'float',
  'integer',
  'unsigned',
  'string',
  'boolean',
];

/** Spelling of a type in errors of writes, where integers are called int64. */
export function reportedType(type: FieldType): string {
  return type === 'integer' ? 'int64' : type;
}

/**
 * A field value as a scalar. `integer` and `unsigned` are always `bigint`, `float` is always
 * `number`: the JavaScript type tells a float from an integer (docs/adr/0001-int64.md).
 */
export type FieldValue = number | bigint | string | boolean;

/**
 * A uint64 field value where values come without their types; a plain `bigint` is an int64 there.
 */
export type UnsignedValue = { readonly unsigned: bigint };

/** The field type of a value that comes without it. */
export function fieldTypeOf(value: FieldValue | UnsignedValue): FieldType {
  switch (typeof value) {
    case 'number':
      return 'float';
    case 'bigint':
      return 'integer';
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'object':
      return 'unsigned';
  }
}
