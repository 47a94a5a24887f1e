// The output of a join: points whose fields are read from the joined points without copying.
import type { JoinOptions } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import { Batch, Point } from '../data/point.ts';
import type { Field, Value, ValueType } from '../data/schema.ts';
import { field, Schema } from '../data/schema.ts';
import type { NodeContext } from '../node.ts';
import { roundTime } from '../time-math.ts';

/** A parent's message of a set, or its absence. */
export type JoinPart<M> = M | undefined;

type Fill = { readonly type: ValueType; readonly value: Value };

/** Schemas by the schemas of the parts: a chain of maps, one level per parent. */
type SchemaTree = {
  readonly next: Map<Schema | undefined, SchemaTree>;
  schema: Schema | undefined;
};

const SCHEMAS_MAX = 4096;

export class JoinMerger {
  readonly #options: JoinOptions;
  readonly #fill: Fill | undefined;
  #tree: SchemaTree = { next: new Map(), schema: undefined };
  #schemaCount = 0;
  #lastParts: readonly (Schema | undefined)[] = [];
  #lastFiller: Schema | undefined;
  #lastSchema: Schema | undefined;

  constructor(ctx: NodeContext<JoinOptions>) {
    this.#options = ctx.options;
    this.#fill = fillOf(ctx.options);
  }

  /**
   * The joined point, to which the array of parts belongs from then on; `undefined` when a part is
   * missing and nothing fills it.
   */
  points(group: Group, time: bigint, parts: readonly JoinPart<Point>[]): Point | undefined {
    let first: Point | undefined;
    for (const part of parts) {
      if (part === undefined && this.#fill === undefined) return undefined;
      first ??= part;
    }
    if (first === undefined) return undefined;
    const { streamName } = this.#options;
    const name = streamName === '' ? first.series.name : streamName;
    return this.#point(parts, { group, time, name, filler: first.schema });
  }

  /** The joined batch; an incomplete set without fill gives one without points. */
  batches(group: Group, time: bigint, parts: readonly JoinPart<Batch>[]): Batch | undefined {
    const first = parts.find((part) => part !== undefined);
    if (first === undefined) return undefined;
    const { streamName } = this.#options;
    const series = group.series(streamName === '' ? first.name : streamName);
    const isDropped = this.#fill === undefined && parts.includes(undefined);
    const points = isDropped ? [] : this.#batchPoints(group, series.name, parts);
    return new Batch(series, group, time, points);
  }

  #batchPoints(group: Group, name: string, parts: readonly JoinPart<Batch>[]): Point[] {
    const heads = parts.map(() => 0);
    const results: Point[] = [];
    let filler: Schema | undefined;
    for (;;) {
      const candidates = parts.map((part, i) => part?.points[heads[i] ?? 0]);
      let time: bigint | undefined;
      for (const candidate of candidates) {
        if (candidate === undefined) continue;
        const rounded = this.#round(candidate.time);
        if (time === undefined || rounded < time) time = rounded;
      }
      if (time === undefined) return results;
      const chosen = candidates.map((candidate, i) => {
        if (candidate === undefined || this.#round(candidate.time) !== time) return undefined;
        heads[i] = (heads[i] ?? 0) + 1;
        return candidate;
      });
      filler ??= chosen.find((point) => point !== undefined)?.schema;
      if (filler === undefined || (this.#fill === undefined && chosen.includes(undefined)))
        continue;
      results.push(this.#point(chosen, { group, time, name, filler }));
    }
  }

  #round(time: bigint): bigint {
    return roundTime(time, this.#options.toleranceNanos);
  }

  #point(
    parts: readonly JoinPart<Point>[],
    at: {
      readonly group: Group;
      readonly time: bigint;
      readonly name: string;
      readonly filler: Schema;
    },
  ): Point {
    const schema = this.#schema(parts, at.filler);
    const own =
      this.#fill === undefined ? (parts as readonly Point[]) : this.#filled(this.#fill, parts);
    return Point.of({
      time: at.time,
      series: at.group.series(at.name),
      group: at.group,
      schema,
      own,
    });
  }

  #filled(fill: Fill, parts: readonly JoinPart<Point>[]): (Value | Point)[] {
    const own: (Value | Point)[] = [];
    for (const part of parts) own.push(part ?? null);
    own.push(fill.value);
    return own;
  }

  /** Nearly all points of a join have the same schemas. */
  #schema(parts: readonly JoinPart<Point>[], filler: Schema): Schema {
    const last = this.#lastParts;
    let isSame = filler === this.#lastFiller && last.length === parts.length;
    for (let i = 0; isSame && i < parts.length; i++) isSame = parts[i]?.schema === last[i];
    if (isSame && this.#lastSchema !== undefined) return this.#lastSchema;
    const schema = this.#schemaOf(parts, filler);
    this.#lastParts = parts.map((part) => part?.schema);
    this.#lastFiller = filler;
    this.#lastSchema = schema;
    return schema;
  }

  #schemaOf(parts: readonly JoinPart<Point>[], filler: Schema): Schema {
    let tree = this.#branch(this.#tree, filler);
    for (const part of parts) tree = this.#branch(tree, part?.schema);
    if (tree.schema === undefined) {
      tree.schema = this.#makeSchema(parts, filler);
      // With ever new shapes, the cache starts over.
      if (++this.#schemaCount > SCHEMAS_MAX) {
        this.#schemaCount = 0;
        this.#tree = { next: new Map(), schema: undefined };
      }
    }
    return tree.schema;
  }

  #branch(tree: SchemaTree, schema: Schema | undefined): SchemaTree {
    let next = tree.next.get(schema);
    if (next === undefined) tree.next.set(schema, (next = { next: new Map(), schema: undefined }));
    return next;
  }

  #makeSchema(parts: readonly JoinPart<Point>[], filler: Schema): Schema {
    const { as, delimiter } = this.#options;
    const fields: Field[] = [];
    for (const [index, part] of parts.entries()) {
      const prefix = `${as[index] ?? ''}${delimiter}`;
      if (part !== undefined) {
        const { schema } = part;
        for (const [position, inner] of schema.fields.entries()) {
          const slot = { kind: 'part', index, field: inner, schema, position } as const;
          fields.push(field(prefix + inner.name, inner.type, slot));
        }
      } else if (this.#fill !== undefined) {
        const { type } = this.#fill;
        for (const { name } of filler.fields) {
          fields.push(field(prefix + name, type, { kind: 'own', index: parts.length }));
        }
      }
    }
    return new Schema(fields, parts.length + (this.#fill === undefined ? 0 : 1));
  }
}

function fillOf({ fill }: JoinOptions): Fill | undefined {
  switch (fill?.kind) {
    case 'null':
      return { type: 'null', value: null };
    case 'number':
      return { type: typeof fill.value === 'bigint' ? 'int' : 'float', value: fill.value };
    default:
      return undefined;
  }
}
