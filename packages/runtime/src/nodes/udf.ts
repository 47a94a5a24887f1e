// @name: passes points or batches to a user-defined function and emits its output.
import type { SpecValue } from '@tidemark/pipeline';
import { udfNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier } from '../data/point.ts';
import { Batch, Point } from '../data/point.ts';
import type { Value } from '../data/schema.ts';
import { ownSchema, valueTypeOf } from '../data/schema.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { NodeFailed, StartError } from '../node.ts';
import type { UdfBegin, UdfOptionValue, UdfPoint } from '../udf/messages.ts';
import { UdfError, UdfSession } from '../udf/session.ts';

export class UdfNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {
    starting: this,
    waiting: this,
    outside: this,
    closing: this,
    state: this,
  };
  readonly #ctx: ContextOf<typeof udfNode>;
  readonly #groups = new Set<string>();
  #session: UdfSession | undefined;
  #restored: Uint8Array | undefined;
  #snapshot: Uint8Array | undefined;
  #sentSinceIdle = 0;
  #begin: UdfBegin | undefined;
  #points: Point[] = [];

  constructor(ctx: ContextOf<typeof udfNode>) {
    this.#ctx = ctx;
    if (ctx.task.services.udf === undefined) {
      throw new StartError(`user-defined function ${ctx.options.functionName} is not configured`, {
        hint: 'functions are sections [udf.functions.name] of the configuration',
      });
    }
  }

  get groupCount(): number {
    return this.#groups.size;
  }

  get waitingCount(): number {
    return this.#sentSinceIdle;
  }

  async start(): Promise<void> {
    const { task, options, name } = this.#ctx;
    const { udf } = task.services;
    if (udf === undefined) return;
    const connection = await udf.connect(options.functionName);
    const session = new UdfSession(connection, {
      data: (message) => task.guard(() => this.#received(message)),
      failed: (cause) => {
        this.#sentSinceIdle = 0;
        task.guard(() => this.#ctx.abort(cause.message));
      },
    });
    this.#session = session;
    const calls = options.calls.map((call) => ({
      name: call.name,
      values: call.values.map(optionValue),
    }));
    try {
      await session.init({ kind: 'init', options: calls, taskId: task.taskId, nodeId: name });
      if (this.#restored !== undefined) await session.restore(this.#restored);
    } catch (cause) {
      if (cause instanceof UdfError) throw new StartError(cause.message, { cause });
      throw cause;
    }
    session.keepAlive(task.timers, udf.timeoutMs(options.functionName));
  }

  point(point: Point): void {
    this.#groups.add(point.group.id);
    this.#sentSinceIdle++;
    this.#session?.send({ kind: 'point', point: this.#udfPoint(point) });
  }

  batch(batch: Batch): void {
    const { group, name, series, points, time } = batch;
    this.#groups.add(group.id);
    this.#sentSinceIdle++;
    const { isByName } = group.dimensions;
    const about = { name, group: group.id, tags: series.tagMap(), isByName };
    this.#session?.send({ kind: 'begin', begin: { ...about, sizeCount: points.length } });
    for (const point of points)
      this.#session?.send({ kind: 'point', point: this.#udfPoint(point) });
    this.#session?.send({ kind: 'end', end: { ...about, time } });
  }

  /** As recorded, barriers and deletions do not reach functions. */
  barrier(_barrier: Barrier): void {}

  deleteGroup(group: Group): void {
    this.#groups.delete(group.id);
  }

  async idle(): Promise<void> {
    const sent = this.#sentSinceIdle;
    try {
      await this.#session?.settled(this.#ctx.task.timers.now());
    } catch (cause) {
      // The session's end has been reported to the task already.
      if (!(cause instanceof UdfError)) throw cause;
    }
    this.#sentSinceIdle = Math.max(0, this.#sentSinceIdle - sent);
  }

  async finishing(): Promise<void> {
    await this.#session?.end();
    this.#sentSinceIdle = 0;
  }

  close(): void {
    this.#session?.kill();
  }

  async prepareSnapshot(): Promise<void> {
    this.#snapshot = await this.#session?.snapshot();
  }

  snapshot(): unknown {
    return this.#snapshot;
  }

  restore(state: unknown): void {
    this.#restored = state as Uint8Array;
  }

  #udfPoint(point: Point): UdfPoint {
    const fields = new Map<string, number | bigint | string | boolean>();
    for (const field of point.schema.fields) {
      const value = field.read(point);
      if (value !== null) fields.set(field.name, value);
    }
    const { dimensions, id } = point.group;
    return {
      time: point.time,
      name: point.series.name,
      database: point.origin.database,
      retentionPolicy: point.origin.retentionPolicy,
      group: id,
      dimensions: dimensions.tagNames,
      isByName: dimensions.isByName,
      tags: point.series.tagMap(),
      fields,
    };
  }

  #received(message: Parameters<ConstructorParameters<typeof UdfSession>[1]['data']>[0]): void {
    switch (message.kind) {
      case 'begin':
        this.#begin = message.begin;
        this.#points = [];
        break;
      case 'point': {
        const point = this.#point(message.point, this.#begin);
        if (point === undefined) break;
        if (this.#begin === undefined) this.#ctx.out.point(point);
        else this.#points.push(point);
        break;
      }
      case 'end': {
        const { name, tags, isByName, time } = message.end;
        const series = this.#ctx.task.series.of(name, tags);
        const group = this.#ctx.groupOf(series, { isByName, tagNames: series.keys.names });
        const points = this.#points;
        this.#begin = undefined;
        this.#points = [];
        if (group !== undefined) this.#ctx.out.batch(new Batch(series, group, time, points));
      }
    }
  }

  #point(from: UdfPoint, begin: UdfBegin | undefined): Point | undefined {
    const { task } = this.#ctx;
    const series = task.series.of(begin?.name ?? from.name, from.tags);
    const group =
      begin === undefined
        ? this.#ctx.groupOf(series, {
            isByName: from.isByName,
            tagNames: [...from.dimensions].sort(),
          })
        : this.#ctx.groupOf(task.series.of(begin.name, begin.tags), {
            isByName: begin.isByName,
            tagNames: [...begin.tags.keys()].sort(),
          });
    if (group === undefined) return undefined;
    const types = [...from.fields].map(([name, value]) => ({ name, type: valueTypeOf(value) }));
    return Point.of({
      time: from.time,
      series,
      group,
      schema: ownSchema(types),
      own: [...from.fields.values()] as Value[],
      origin: { database: from.database, retentionPolicy: from.retentionPolicy },
    });
  }
}

function optionValue(value: SpecValue): UdfOptionValue {
  switch (value.kind) {
    case 'boolean':
      return { type: 'bool', value: value.value };
    case 'integer':
      return { type: 'int', value: value.value };
    case 'float':
      return { type: 'float', value: value.value };
    case 'string':
      return { type: 'string', value: value.value };
    case 'duration':
      return { type: 'duration', value: value.nanos };
    default:
      throw new NodeFailed('udf', `option value of type ${value.kind}`);
  }
}

export const runningUdf = implement(udfNode, (ctx) => new UdfNode(ctx));
