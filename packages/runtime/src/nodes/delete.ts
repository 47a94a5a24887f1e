// delete: removes fields and tags.
import { deleteNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import { Schema, SchemaCache } from '../data/schema.ts';
import type { Series } from '../data/series.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';

/** Removes fields and tags; a removed dimension regroups. */
export class DeleteNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { counters: this };
  readonly #ctx: ContextOf<typeof deleteNode>;
  readonly #tags: ReadonlySet<string>;
  readonly #kept: SchemaCache<{ readonly schema: Schema; readonly removedCount: number }>;
  #fieldCount = 0;
  #tagCount = 0;

  constructor(ctx: ContextOf<typeof deleteNode>) {
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

export const runningDelete = implement(deleteNode, (ctx) => new DeleteNode(ctx));
