// sideload: adds fields and tags from files or HTTP, looked up by templates over a point's tags.
import { messageOf } from '@tidemark/core';
import type { SideloadOptions, SpecValue } from '@tidemark/pipeline';
import { sideloadNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier } from '../data/point.ts';
import type { Batch, Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import type { Series } from '../data/series.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import type { SideloadTree } from '../services.ts';
import { TemplateSyntaxError } from '../template/lex.ts';
import { Template, TemplateExecutionError } from '../template/template.ts';
import { TemplateMap } from '../template/value.ts';
import { floatToInt } from '../lambda/functions-misc.ts';
import { parseFloatText, quote } from '../lambda/text.ts';
import { addedTo } from '../node-parts/augment.ts';

type Loaded = string | number | bigint | boolean;

export class SideloadNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { starting: this, closing: this };
  readonly #ctx: ContextOf<typeof sideloadNode>;
  readonly #order: readonly Template[];
  readonly #fields: readonly {
    readonly name: string;
    readonly type: ValueType;
    readonly value: Value;
  }[];
  #tree: SideloadTree | undefined;

  constructor(ctx: ContextOf<typeof sideloadNode>) {
    this.#ctx = ctx;
    const { fields } = ctx.options;
    this.#order = orderTemplates(ctx.options);
    this.#fields = [...fields].map(([name, value]) => ({ name, ...defaultValue(value) }));
  }

  get groupCount(): number {
    return 0;
  }

  async start(): Promise<void> {
    const { sideload } = this.#ctx.task.services;
    if (sideload === undefined) throw new StartError('sideload sources are not available');
    try {
      this.#tree = await sideload.open(this.#ctx.options.source);
    } catch (cause) {
      throw new StartError(messageOf(cause), { cause, properties: ['source'] });
    }
  }

  point(point: Point): void {
    this.#ctx.out.point(this.#load(point, point.series));
  }

  batch(batch: Batch): void {
    // Points of a batch get their tags, the batch keeps its group.
    const points = batch.points.map((point) => this.#load(point, point.series));
    this.#ctx.out.batch(batch.withPoints(points));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }

  close(): void {
    this.#tree?.close();
  }

  #load(point: Point, series: Series): Point {
    const paths = this.#paths(series);
    const fields = this.#fields.map((field) => {
      const loaded = this.#lookup(paths, field.name);
      return { ...field, value: loaded === undefined ? field.value : this.#convert(field, loaded) };
    });
    return addedTo(this.#ctx, point, { tags: this.#tags(paths), fields });
  }

  #tags(paths: readonly string[]): Map<string, string> {
    const tags = new Map<string, string>();
    for (const [name, value] of this.#ctx.options.tags) {
      const loaded = this.#lookup(paths, name);
      tags.set(name, loaded === undefined ? value : String(loaded));
    }
    return tags;
  }

  /** Paths in the order of the look-ups. */
  #paths(series: Series): string[] {
    const data = new TemplateMap(Object.entries(series.tags), '');
    return this.#order.flatMap((template) => {
      try {
        return [template.execute(data)];
      } catch (cause) {
        if (!(cause instanceof TemplateExecutionError)) throw cause;
        this.#ctx.fail('failed to render order', cause.message);
        return [];
      }
    });
  }

  #lookup(paths: readonly string[], key: string): Loaded | undefined {
    for (const path of paths) {
      const value = this.#tree?.lookup(path, key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #convert(field: { readonly type: ValueType; readonly value: Value }, loaded: Loaded): Value {
    const converted = convert(field.type, loaded);
    if (converted !== undefined) return converted;
    this.#ctx.fail(
      'failed to load key',
      `cannot convert ${typeof loaded} to ${field.type}: ${quote(String(loaded))}`,
    );
    return field.value;
  }
}

function defaultValue(value: SpecValue): { type: ValueType; value: Value } {
  switch (value.kind) {
    case 'boolean':
    case 'float':
    case 'string':
      return { type: value.kind, value: value.value };
    case 'integer':
      return { type: 'int', value: value.value };
    case 'duration':
      return { type: 'duration', value: value.nanos };
    default:
      throw new StartError(`unsupported type ${value.kind} for a sideload default`);
  }
}

/** The loaded value in the default's type; `undefined` when it does not fit. */
function convert(type: ValueType, loaded: Loaded): Value | undefined {
  switch (type) {
    case 'string':
      return String(loaded);
    case 'boolean':
      if (typeof loaded === 'boolean') return loaded;
      return loaded === 'true' ? true : loaded === 'false' ? false : undefined;
    case 'float':
      if (typeof loaded === 'string') return parseFloatText(loaded);
      return typeof loaded === 'boolean' ? undefined : Number(loaded);
    case 'int':
      if (typeof loaded === 'bigint') return loaded;
      if (typeof loaded === 'number')
        return Number.isInteger(loaded) ? floatToInt(loaded) : undefined;
      return typeof loaded === 'string' && /^[+-]?\d+$/.test(loaded) ? BigInt(loaded) : undefined;
    default:
      return undefined;
  }
}

/** Templates of the paths of a sideload node. Throws `StartError`. */
export function orderTemplates({ order }: SideloadOptions): readonly Template[] {
  try {
    return order.map((source) => new Template('order', source));
  } catch (cause) {
    if (cause instanceof TemplateSyntaxError) {
      throw new StartError(cause.message, { cause, properties: ['order'] });
    }
    throw cause;
  }
}

export const runningSideload = implement(sideloadNode, (ctx) => new SideloadNode(ctx), {
  checkTexts: orderTemplates,
});
