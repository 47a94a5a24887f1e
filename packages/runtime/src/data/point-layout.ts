// How points of one schema are laid out in typed arrays: a row of equally large cells per point, so
// that appending a point touches one place in memory.
import type { Field, Schema, ValueType } from './schema.ts';
import { columnSchema, SchemaCache } from './schema.ts';

/** Where the value of a cell is. */
export const CellKind = { Float: 0, Integer: 1, Boolean: 2, Text: 3, Null: 4 } as const;
export type CellKind = (typeof CellKind)[keyof typeof CellKind];

/** Interned: points with the same fields in the same order have the same layout. */
export type PointLayout = {
  /** Of the points that are read from the cells. */
  readonly schema: Schema;
  /** Cells of a row: the time, then the fields of the schema. */
  readonly stride: number;
  /** By field. */
  readonly kinds: readonly CellKind[];
};

/** How the values of points of a schema get into cells. */
export type LayoutOfSchema = {
  readonly layout: PointLayout;
  readonly fields: readonly Field[];
  /** The columns of the fields if all of them are columns of floats, which is common. */
  readonly floatColumns: readonly number[] | undefined;
};

const layouts = new WeakMap<Schema, PointLayout>();

/** The layouts of schemas, cached. */
export class LayoutCache {
  readonly #fieldsWanted: () => readonly string[] | undefined;
  readonly #whole = new SchemaCache((schema) => layoutOf(schema.fields));
  readonly #wanted: SchemaCache<LayoutOfSchema>;

  /**
   * `fieldsWanted` returns the fields that are kept of points which have all of them; `undefined`:
   * every field. The others are kept whole, since errors show them.
   */
  constructor(fieldsWanted: () => readonly string[] | undefined) {
    this.#fieldsWanted = fieldsWanted;
    this.#wanted = new SchemaCache((schema) => layoutOf(wantedOf(schema, fieldsWanted() ?? [])));
  }

  get(schema: Schema): LayoutOfSchema {
    return (this.#fieldsWanted() === undefined ? this.#whole : this.#wanted).get(schema);
  }
}

function wantedOf(schema: Schema, names: readonly string[]): readonly Field[] {
  const isMissing = (name: string): boolean => (schema.field(name)?.type ?? 'null') === 'null';
  if (names.some(isMissing)) return schema.fields;
  return schema.fields.filter(({ name }) => names.includes(name));
}

function layoutOf(fields: readonly Field[]): LayoutOfSchema {
  const schema = columnSchema(fields);
  let layout = layouts.get(schema);
  if (layout === undefined) {
    layout = { schema, stride: fields.length + 1, kinds: fields.map(({ type }) => kindOf(type)) };
    layouts.set(schema, layout);
  }
  const columns = fields.flatMap(({ type, slot }) =>
    type === 'float' && slot.kind === 'column' ? slot.index : [],
  );
  return { layout, fields, floatColumns: columns.length === fields.length ? columns : undefined };
}

function kindOf(type: ValueType): CellKind {
  switch (type) {
    case 'float':
      return CellKind.Float;
    case 'int':
    case 'duration':
    case 'time':
      return CellKind.Integer;
    case 'boolean':
      return CellKind.Boolean;
    case 'string':
    case 'regex':
      return CellKind.Text;
    case 'null':
      return CellKind.Null;
  }
}
