// Adds tags and fields to points and batches.
import type { Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { field, Schema, SchemaCache } from '../data/schema.ts';
import type { Group } from '../data/group.ts';
import type { Series } from '../data/series.ts';
import type { NodeContext } from '../node.ts';

export type Additions = {
  readonly tags: ReadonlyMap<string, string>;
  readonly fields: readonly {
    readonly name: string;
    readonly type: ValueType;
    readonly value: Value;
  }[];
};

/** A copy with tags and fields set; the group follows tags that are dimensions. */
export function addedTo<M extends Point | Batch>(
  ctx: NodeContext,
  message: M,
  added: Additions,
): M {
  if (!(message instanceof Batch)) return addToPoint(ctx, message as Point, added) as M;
  let series = message.series;
  for (const [name, value] of added.tags) series = ctx.task.series.withTag(series, name, value);
  const points = message.points.map((point) => addToPoint(ctx, point, added));
  const group = batchGroup(ctx, message, series) ?? message.group;
  return new Batch(series, group, message.time, points) as M;
}

/** The group of a batch whose tags a node changed: all tags of a batch are its dimensions. */
export function batchGroup(ctx: NodeContext, batch: Batch, series: Series): Group | undefined {
  if (series === batch.series) return batch.group;
  const { isByName } = batch.group.dimensions;
  return ctx.groupOf(series, { isByName, tagNames: series.keys.names });
}

function addToPoint(ctx: NodeContext, point: Point, added: Additions): Point {
  const result = addFields(point, added.fields);
  if (added.tags.size === 0) return result;
  let series = point.series;
  for (const [name, value] of added.tags) series = ctx.task.series.withTag(series, name, value);
  const { dimensions } = point.group;
  const isRegrouped = dimensions.tagNames.some((name) => added.tags.has(name));
  const group = isRegrouped ? (ctx.groupOf(series, dimensions) ?? point.group) : point.group;
  return result.withSeries(series, group);
}

/**
 * A copy with fields set. For nodes that add the same fields to every point, `FieldAdder` is
 * faster.
 */
export function addFields(point: Point, fields: Additions['fields']): Point {
  if (fields.length === 0) return point.withValues(point.schema, point.own);
  const own = point.growingValues();
  for (const { value } of fields) own.push(value);
  return point.withValues(extended(point.schema, fields), own);
}

/** Adds one field, of one name and type, to points. */
export class FieldAdder {
  readonly #schemas: SchemaCache<Schema>;

  constructor(name: string, type: ValueType) {
    const added = [{ name, type }];
    this.#schemas = new SchemaCache((schema) => extended(schema, added));
  }

  add(point: Point, value: Value): Point {
    const schema = this.#schemas.get(point.schema);
    // An array that grows by its first value has room for 17.
    if (point.schema.ownLength === 0) return point.withValues(schema, [value]);
    const own = point.growingValues();
    own.push(value);
    return point.withValues(schema, own);
  }
}

/** Schemas by base and added fields; bounded by the schemas in use. */
const extensions = new WeakMap<Schema, Map<string, Schema>>();

/** Schema with further fields, whose values follow the point's own ones. */
export function extended(
  schema: Schema,
  added: readonly { readonly name: string; readonly type: ValueType }[],
): Schema {
  let byKey = extensions.get(schema);
  if (byKey === undefined) extensions.set(schema, (byKey = new Map()));
  let key = '';
  for (const { name, type } of added) key += `${type}:${name}\u0000`;
  let result = byKey.get(key);
  if (result === undefined) {
    const base = schema.ownLength;
    const news = added.map(({ name, type }, i) =>
      field(name, type, { kind: 'own', index: base + i }),
    );
    const names = new Set(added.map(({ name }) => name));
    const kept = schema.fields.filter(({ name }) => !names.has(name));
    result = new Schema([...kept, ...news], base + added.length);
    byKey.set(key, result);
  }
  return result;
}
