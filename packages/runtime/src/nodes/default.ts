// default: sets fields and tags that a point lacks.
import { defaultNode } from '@tidemark/pipeline';
import type { FieldValue } from '@tidemark/core';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import type { ValueType } from '../data/schema.ts';
import { SchemaCache, valueTypeOf } from '../data/schema.ts';
import type { Series } from '../data/series.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { addFields, batchGroup } from '../node-parts/augment.ts';

/** Sets fields that are missing or null, and tags that are missing or empty. */
export class DefaultNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { counters: this };
  readonly #ctx: ContextOf<typeof defaultNode>;
  readonly #missing: SchemaCache<readonly { name: string; type: ValueType; value: FieldValue }[]>;
  #fieldCount = 0;
  #tagCount = 0;

  constructor(ctx: ContextOf<typeof defaultNode>) {
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

export const runningDefault = implement(defaultNode, (ctx) => new DefaultNode(ctx));
