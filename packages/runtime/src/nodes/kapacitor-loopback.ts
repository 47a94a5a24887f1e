// kapacitorLoopback: sends points into the engine's own write path.
import { kapacitorLoopbackNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import { toOutputPoint } from '../data/point.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import type { OutputPoint } from '../services.ts';
import { withTags } from './influxdb-out.ts';

export class LoopbackNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { counters: this };
  readonly #ctx: ContextOf<typeof kapacitorLoopbackNode>;
  #pointsWritten = 0;

  constructor(ctx: ContextOf<typeof kapacitorLoopbackNode>) {
    this.#ctx = ctx;
    const { database, retentionPolicy } = ctx.options;
    const isLoop = ctx.task.dbrps.some(
      (dbrp) => dbrp.database === database && dbrp.retentionPolicy === retentionPolicy,
    );
    if (isLoop) throw new StartError(`loop detected on dbrp: "${database}"."${retentionPolicy}"`);
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    this.#write([this.#output(point)]);
  }

  batch(batch: Batch): void {
    this.#write(batch.points.map((point) => this.#output(point)));
  }

  barrier(_barrier: Barrier): void {}

  deleteGroup(_group: Group): void {}

  stats(): Readonly<Record<string, number>> {
    return { points_written: this.#pointsWritten };
  }

  #output(point: Point): OutputPoint {
    const { measurement, tags } = this.#ctx.options;
    const output = toOutputPoint(point, { areDurationsText: true });
    const fields = new Map([...output.fields].filter(([, value]) => value !== null));
    const name = measurement === '' ? output.name : measurement;
    return { name, tags: withTags(output.tags, tags), fields, time: output.time };
  }

  #write(outputs: readonly OutputPoint[]): void {
    const { database, retentionPolicy } = this.#ctx.options;
    const points = outputs.filter(({ fields }) => fields.size > 0);
    if (points.length === 0) return;
    const { task } = this.#ctx;
    task.services.loopback.write(database, retentionPolicy, points, task.cause());
    this.#pointsWritten += points.length;
  }
}

export const runningKapacitorLoopback = implement(
  kapacitorLoopbackNode,
  (ctx) => new LoopbackNode(ctx),
);
