// default and delete: set or remove fields and tags.
import type { DefaultOptions, DeleteOptions } from '@tidemark/pipeline';
import type { FieldValue } from '@tidemark/core';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import type { ValueType } from '../data/schema.ts';
import { Schema, SchemaCache } from '../data/schema.ts';
import type { Series } from '../data/series.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import { addFields, batchGroup } from './augment.ts';

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

/** Sets fields that are missing or null, and tags that are missing or empty. */
export class DefaultNode implements RunningNode {
  readonly #ctx: NodeContext<DefaultOptions>;
  readonly #missing: SchemaCache<readonly { name: string; type: ValueType; value: FieldValue }[]>;
  #fieldCount = 0;
  #tagCount = 0;

  constructor(ctx: NodeContext<DefaultOptions>) {
    this.#ctx = ctx;
    this.#missing = new SchemaCache((schema) =>
      [...ctx.options.fields].flatMap(([name, value]) => {
        const found = schema.field(name);
        if (found !== undefined && found.type !== 'null') return [];
        return [{ name, type: valueTypeOf(value), value }];
      }),
    );
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    const result = this.#default(point);
    if (result !== undefined) this.#ctx.out.point(result);
  }

  batch(batch: Batch): void {
    const series = this.#tags(batch.series);
    const group = batchGroup(this.#ctx, batch, series);
    if (group === undefined) return;
    const points: Point[] = [];
    for (const point of batch.points) {
      const result = this.#default(point);
      if (result !== undefined) points.push(result);
    }
    this.#ctx.out.batch(new Batch(series, group, batch.time, points));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }

  stats(): Readonly<Record<string, number>> {
    return { fields_defaulted: this.#fieldCount, tags_defaulted: this.#tagCount };
  }

  #default(point: Point): Point | undefined {
    const missing = this.#missing.get(point.schema);
    this.#fieldCount += missing.length;
    const filled = missing.length === 0 ? point : addFields(point, missing);
    const series = this.#tags(point.series);
    if (series === point.series) return filled;
    const group = this.#group(point.group, series, point.series);
    return group === undefined ? undefined : filled.withSeries(series, group);
  }

  #tags(series: Series): Series {
    let result = series;
    for (const [name, value] of this.#ctx.options.tags) {
      if ((result.tag(name) ?? '') !== '') continue;
      this.#tagCount++;
      result = this.#ctx.task.series.withTag(result, name, value);
    }
    return result;
  }

  /** A tag that is a dimension moves the point to another group. */
  #group(group: Group, series: Series, before: Series): Group | undefined {
    if (series === before) return group;
    const names = group.dimensions.tagNames;
    const isSame = names.every((name) => (series.tag(name) ?? '') === (before.tag(name) ?? ''));
    return isSame ? group : this.#ctx.groupOf(series, group.dimensions);
  }
}

/** Removes fields and tags; a removed dimension regroups. */
export class DeleteNode implements RunningNode {
  readonly #ctx: NodeContext<DeleteOptions>;
  readonly #tags: ReadonlySet<string>;
  readonly #kept: SchemaCache<{ readonly schema: Schema; readonly removedCount: number }>;
  #fieldCount = 0;
  #tagCount = 0;

  constructor(ctx: NodeContext<DeleteOptions>) {
    this.#ctx = ctx;
    this.#tags = new Set(ctx.options.tags);
    const fields = new Set(ctx.options.fields);
    this.#kept = new SchemaCache((schema) => {
      const kept = schema.fields.filter(({ name }) => !fields.has(name));
      const removedCount = schema.fields.length - kept.length;
      return {
        schema: removedCount === 0 ? schema : new Schema(kept, schema.ownLength),
        removedCount,
      };
    });
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    const result = this.#delete(point);
    if (result !== undefined) this.#ctx.out.point(result);
  }

  batch(batch: Batch): void {
    const series = this.#ctx.task.series.withoutTags(batch.series, this.#tags);
    this.#tagCount += batch.series.values.length - series.values.length;
    const group = this.#group(batch.group, series);
    if (group === undefined) return;
    const points: Point[] = [];
    for (const point of batch.points) {
      const result = this.#delete(point);
      if (result !== undefined) points.push(result);
    }
    this.#ctx.out.batch(new Batch(series, group, batch.time, points));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }

  stats(): Readonly<Record<string, number>> {
    return { fields_deleted: this.#fieldCount, tags_deleted: this.#tagCount };
  }

  #delete(point: Point): Point | undefined {
    const { schema, removedCount } = this.#kept.get(point.schema);
    this.#fieldCount += removedCount;
    const series = this.#ctx.task.series.withoutTags(point.series, this.#tags);
    this.#tagCount += point.series.values.length - series.values.length;
    const group = this.#group(point.group, series);
    if (group === undefined) return undefined;
    const result = point.withValues(schema, point.own);
    result.series = series;
    result.group = group;
    return result;
  }

  #group(group: Group, series: Series): Group | undefined {
    const names = group.dimensions.tagNames.filter((name) => !this.#tags.has(name));
    if (names.length === group.dimensions.tagNames.length) return group;
    return this.#ctx.groupOf(series, { isByName: group.dimensions.isByName, tagNames: names });
  }
}
