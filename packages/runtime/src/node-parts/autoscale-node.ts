// The behaviour that the autoscale nodes of all providers share: set the number of replicas of a
// resource and emit each change.
import { messageOf } from '@tidemark/core';
import type { AutoscaleOptions, ScalerProvider } from '@tidemark/pipeline';
import { AsyncQueue } from '../async-queue.ts';
import type { MakeScaler, Scaler, ScaledResource } from '../autoscale/scaler.ts';
import { ScalerError } from '../autoscale/scaler.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch } from '../data/point.ts';
import { Point } from '../data/point.ts';
import { ownSchema } from '../data/schema.ts';
import { EvaluationError } from '../lambda/errors.ts';
import type { Lambda } from '../lambda/lambda.ts';
import { valueFailure } from '../lambda/lambda.ts';
import type { Frame, Run } from '../lambda/typed.ts';
import { GroupStates } from '../group-states.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import { FieldAdder } from './augment.ts';
import { compileFor } from './compile.ts';
import { requiredLambda } from './required-lambda.ts';

/** How a provider's node finds its resource in a point and names it in its output. */
export type Provider = {
  readonly kind: ScalerProvider;
  readonly scaler: MakeScaler;
  readonly resource: (point: Point) => ScaledResource | string;
  readonly outputTags: (resource: ScaledResource) => readonly (readonly [string, string])[];
};

/** The state of a resource. */
type Scaled = {
  replicas: bigint;
  lastIncrease: bigint | undefined;
  lastDecrease: bigint | undefined;
};

const OUTPUT = ownSchema([
  { name: 'new', type: 'int' },
  { name: 'old', type: 'int' },
]);

export class AutoscaleNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { counters: this, waiting: this, closing: this };
  readonly #ctx: NodeContext<AutoscaleOptions>;
  readonly #provider: Provider;
  readonly #scaler: Scaler;
  readonly #lambda: Lambda;
  readonly #frames: GroupStates<Frame>;
  readonly #current: FieldAdder | undefined;
  readonly #queue = new AsyncQueue();
  readonly #abort = new AbortController();
  readonly #resources = new Map<string, Scaled>();
  #increaseCount = 0;
  #decreaseCount = 0;
  #cooldownCount = 0;

  constructor(ctx: NodeContext<AutoscaleOptions>, provider: Provider) {
    this.#ctx = ctx;
    this.#provider = provider;
    const { task, options } = ctx;
    const cluster = task.services.scalerCluster(provider.kind, options.cluster);
    if (cluster === undefined) {
      throw new StartError(
        `no ${provider.kind} cluster ${JSON.stringify(options.cluster)} is configured`,
        { properties: ['cluster'] },
      );
    }
    this.#scaler = provider.scaler({
      http: task.services.http,
      cluster,
      signal: this.#abort.signal,
    });
    this.#lambda = compileFor(
      requiredLambda(options.replicas),
      'Failed to compile replicas expression',
    );
    this.#frames = new GroupStates(() => this.#lambda.frame(task.callContext));
    this.#current =
      options.currentField === '' ? undefined : new FieldAdder(options.currentField, 'int');
  }

  get groupCount(): number {
    return this.#frames.count;
  }

  get waitingCount(): number {
    return this.#queue.waitingCount;
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  point(point: Point): void {
    point.detach();
    this.#frames.get(point.group);
    this.#queue.add(() => this.#scale(point));
  }

  batch(batch: Batch): void {
    for (const point of batch.points) this.point(point.withSeries(point.series, batch.group));
  }

  barrier(barrier: Barrier): void {
    this.#queue.add(() =>
      Promise.resolve(this.#ctx.task.guard(() => this.#ctx.out.barrier(barrier))),
    );
  }

  deleteGroup(group: Group): void {
    this.#frames.delete(group);
    this.#queue.add(() =>
      Promise.resolve(this.#ctx.task.guard(() => this.#ctx.out.deleteGroup(group))),
    );
  }

  stats(): Readonly<Record<string, number>> {
    return {
      increase_events: this.#increaseCount,
      decrease_events: this.#decreaseCount,
      cooldown_drops: this.#cooldownCount,
    };
  }

  close(): void {
    this.#abort.abort();
  }

  async #scale(point: Point): Promise<void> {
    try {
      const resource = this.#provider.resource(point);
      if (typeof resource === 'string') {
        this.#ctx.fail('failed to find resource', resource);
        return;
      }
      const key = `${resource.namespace}\u0000${resource.kind}\u0000${resource.name}`;
      let scaled = this.#resources.get(key);
      if (scaled === undefined) {
        const replicas = await this.#scaler.replicas(resource);
        scaled = { replicas, lastIncrease: undefined, lastDecrease: undefined };
        this.#resources.set(key, scaled);
      }
      await this.#apply(point, resource, scaled);
    } catch (cause) {
      if (cause instanceof EvaluationError)
        this.#ctx.fail('failed to evaluate replicas', cause.message);
      else if (cause instanceof ScalerError || cause instanceof Error) {
        this.#ctx.fail('failed to scale', messageOf(cause));
      } else throw cause;
    }
  }

  async #apply(point: Point, resource: ScaledResource, scaled: Scaled): Promise<void> {
    const { options } = this.#ctx;
    const old = scaled.replicas;
    let wanted = this.#wanted(point, old);
    if (options.max > 0n && wanted > options.max) wanted = options.max;
    if (wanted < options.min) wanted = options.min;
    if (wanted === old) return;
    const isIncrease = wanted > old;
    const last = isIncrease ? scaled.lastIncrease : scaled.lastDecrease;
    const cooldown = isIncrease ? options.increaseCooldownNanos : options.decreaseCooldownNanos;
    if (last !== undefined && point.time - last < cooldown) {
      this.#cooldownCount++;
      return;
    }
    await this.#scaler.setReplicas(resource, wanted);
    scaled.replicas = wanted;
    if (isIncrease) {
      scaled.lastIncrease = point.time;
      this.#increaseCount++;
    } else {
      scaled.lastDecrease = point.time;
      this.#decreaseCount++;
    }
    this.#ctx.task.guard(() => this.#emit(point, resource, [wanted, old]));
  }

  #wanted(point: Point, current: bigint): bigint {
    const seen = this.#current === undefined ? point : this.#current.add(point, current);
    const specialised = this.#lambda.for(seen.schema, seen.series.keys);
    const failure = valueFailure(specialised);
    if (failure !== undefined) throw failure;
    const { type, run } = specialised.typed;
    if (type !== 'int') {
      throw new EvaluationError(
        `TypeGuard: expression returned unexpected type ${type}, expected int`,
      );
    }
    return (run as Run<bigint>)(seen, this.#frames.get(point.group));
  }

  #emit(point: Point, resource: ScaledResource, own: readonly bigint[]): void {
    const { task } = this.#ctx;
    let series = point.group.series(point.series.name);
    for (const [name, value] of this.#provider.outputTags(resource)) {
      if (name !== '') series = task.series.withTag(series, name, value);
    }
    this.#ctx.out.point(
      Point.of({ time: point.time, series, group: point.group, schema: OUTPUT, own }),
    );
  }
}

/** A name given in the script, or the value of a tag. */
export function nameOf(point: Point, name: string, tag: string): string | undefined {
  if (name !== '') return name;
  return point.series.tag(tag);
}
