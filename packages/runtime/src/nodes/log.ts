// log: writes every point or batch to the task's log and passes it on.
import { logNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import { toOutputPoint } from '../data/point.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import type { LogLevel } from '../services.ts';

export class LogNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {};
  readonly #ctx: ContextOf<typeof logNode>;
  readonly #level: LogLevel;

  constructor(ctx: ContextOf<typeof logNode>) {
    this.#ctx = ctx;
    this.#level = logLevel(ctx.options.level);
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    this.#write('point', pointContext(point));
    this.#ctx.out.point(point);
  }

  batch(batch: Batch): void {
    const tags = batch.series.tags;
    this.#write('begin batch', {
      name: batch.name,
      group: batch.group.id,
      tags,
      time: batch.time,
    });
    for (const point of batch.points) this.#write('batch point', pointContext(point));
    this.#write('end batch', { name: batch.name, group: batch.group.id, time: batch.time });
    this.#ctx.out.batch(batch);
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }

  #write(message: string, context: Readonly<Record<string, unknown>>): void {
    const { prefix } = this.#ctx.options;
    this.#ctx.log(this.#level, prefix === '' ? message : `${prefix} ${message}`, context);
  }
}

function pointContext(point: Point): Readonly<Record<string, unknown>> {
  const { name, tags, fields, time } = toOutputPoint(point);
  return {
    name,
    group: point.group.id,
    tags: Object.fromEntries(tags),
    fields: Object.fromEntries(fields),
    time,
  };
}

/** An unknown level is accepted and means info. */
function logLevel(text: string): LogLevel {
  switch (text.toUpperCase()) {
    case 'DEBUG':
      return 'debug';
    case 'WARN':
      return 'warn';
    case 'ERROR':
      return 'error';
    default:
      return 'info';
  }
}

export const runningLog = implement(logNode, (ctx) => new LogNode(ctx));
