// Schemas: the fields of a point with their types and the position of each value. Points of one
// schema are read by the same code; everything compiled for a schema is cached by its identity.
import { textAt } from '@tidemark/core';
import type { FieldValue, Texts } from '@tidemark/core';

import type { Point } from './point.ts';

/**
 * Type of a value inside the runtime. Integers, durations and times are `bigint`s, distinguished by
 * type only.
 */
export type ValueType =
  | 'float'
  | 'int'
  | 'string'
  | 'boolean'
  | 'duration'
  | 'time'
  | 'regex'
  | 'null';

/** Type of a scalar of the script. */
export function valueTypeOf(value: FieldValue): ValueType {
  switch (typeof value) {
    case 'number':
      return 'float';
    case 'bigint':
      return 'int';
    case 'string':
      return 'string';
    default:
      return 'boolean';
  }
}

/** A value inside the runtime; the schema or the compiled expression determines its type. */
export type Value = number | bigint | string | boolean | null;

/**
 * Where a field's value is stored: a column of the write's block, the point's own values, or a
 * field of another point that the point holds (results of joins are not copied).
 */
export type Slot =
  | { readonly kind: 'column'; readonly index: number }
  | { readonly kind: 'own'; readonly index: number }
  | {
      readonly kind: 'part';
      readonly index: number;
      readonly field: Field;
      /**
       * The part's schema, and the field's position in it: a detached part has it at this position
       * of its own values.
       */
      readonly schema: Schema;
      readonly position: number;
    };

export type Field = {
  readonly name: string;
  readonly type: ValueType;
  readonly slot: Slot;
  readonly read: (point: Point) => Value;
};

/** Fields of a point in the order in which they were written. */
export class Schema {
  readonly fields: readonly Field[];
  readonly indexOf: ReadonlyMap<string, number>;
  /**
   * Number of values of its own that every point of this schema has; more than the fields use when
   * a node dropped some.
   */
  readonly ownLength: number;
  #sorted: readonly Field[] | undefined;
  #detached: Schema | undefined;

  constructor(fields: readonly Field[], ownLength: number) {
    this.fields = fields;
    this.ownLength = ownLength;
    this.indexOf = new Map(fields.map((field, i) => [field.name, i]));
  }

  field(name: string): Field | undefined {
    const i = this.indexOf.get(name);
    return i === undefined ? undefined : this.fields[i];
  }

  /** Sorted by name, for rows. */
  get sorted(): readonly Field[] {
    this.#sorted ??= [...this.fields].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  /** The same fields, all of them the point's own values. */
  get detached(): Schema {
    if (this.#detached === undefined) {
      const isDetached = this.fields.every((f, i) => f.slot.kind === 'own' && f.slot.index === i);
      this.#detached = isDetached ? this : ownSchema(this.fields);
    }
    return this.#detached;
  }
}

/**
 * Schemas made from columns or own values by names and types; bounded, because names may come from
 * data.
 */
const INTERNED_MAX = 4096;
const ownSchemas = new Map<string, Schema>();
const columnSchemas = new Map<string, Schema>();

type FieldType = { readonly name: string; readonly type: ValueType };

/** Schema of points that own all their values, `own[i]` being the i-th field. */
export function ownSchema(fields: readonly FieldType[]): Schema {
  return intern(ownSchemas, fields, 'own');
}

/** Schema of the rows of a block. */
export function columnSchema(fields: readonly FieldType[]): Schema {
  return intern(columnSchemas, fields, 'column');
}

function intern(
  table: Map<string, Schema>,
  fields: readonly FieldType[],
  kind: 'own' | 'column',
): Schema {
  let key = '';
  for (const field of fields) key += `${field.type}:${field.name}\u0000`;
  let schema = table.get(key);
  if (schema === undefined) {
    if (table.size >= INTERNED_MAX) table.clear();
    const withSlots = fields.map((f, index) => field(f.name, f.type, { kind, index }));
    schema = new Schema(withSlots, kind === 'own' ? fields.length : 0);
    table.set(key, schema);
  }
  return schema;
}

/** A field with its reader. */
export function field(name: string, type: ValueType, slot: Slot): Field {
  return { name, type, slot, read: reader(type, slot) };
}

function reader(type: ValueType, slot: Slot): (point: Point) => Value {
  switch (slot.kind) {
    case 'own': {
      const index = slot.index;
      return (point) => point.own[index] as Value;
    }
    case 'part': {
      const { index, field: inner, schema, position } = slot;
      const read = inner.read;
      return (point) => {
        const part = point.own[index] as Point;
        // Another holder of the part may have detached it since.
        return part.schema === schema ? read(part) : (part.own[position] as Value);
      };
    }
    case 'column': {
      const index = slot.index;
      switch (type) {
        case 'string':
          return (point) => {
            const column = point.rows.columns[index] as StringValues;
            const code = column.codes[point.row] as number;
            return (column.strings[code] ??= textAt(column.texts, code));
          };
        case 'boolean':
          return (point) => (point.rows.columns[index] as Uint8Array)[point.row] === 1;
        default:
          return (point) => (point.rows.columns[index] as Float64Array)[point.row] as number;
      }
    }
  }
}

/** Values of a string column: texts become strings when they are read. */
export type StringValues = {
  readonly codes: Uint32Array;
  readonly texts: Texts;
  /** By code, those that were read. */
  readonly strings: (string | undefined)[];
};

/** Values of the columns of one block of a write, in the block's order. */
export type Rows = {
  readonly columns: readonly (
    | Float64Array
    | BigInt64Array
    | Uint8Array
    | StringValues
    | readonly null[]
  )[];
};

export const NO_ROWS: Rows = { columns: [] };

/**
 * A cache of data derived from a schema: fast for repeated look-ups of one schema, bounded
 * otherwise.
 */
export class SchemaCache<T> {
  #lastSchema: Schema | undefined;
  #lastValue: T | undefined;
  readonly #values = new Map<Schema, T>();
  readonly #make: (schema: Schema) => T;

  constructor(make: (schema: Schema) => T) {
    this.#make = make;
  }

  get(schema: Schema): T {
    if (schema === this.#lastSchema) return this.#lastValue as T;
    let value = this.#values.get(schema);
    if (value === undefined) {
      if (this.#values.size >= INTERNED_MAX) this.#values.clear();
      value = this.#make(schema);
      this.#values.set(schema, value);
    }
    this.#lastSchema = schema;
    this.#lastValue = value;
    return value;
  }
}
