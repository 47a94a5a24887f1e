// Edges: count messages and pass them on. Observers (taps, samples of execution time, per-group
// counts) cost one branch when there are none.
import type { Clock } from '@tidemark/core';
import type { Group } from './data/group.ts';
import type { Barrier, Batch, Point } from './data/point.ts';
import type { Receiver } from './node.ts';

/** Sees messages before the child does. */
export type EdgeObserver = Receiver;

/** Moving average of the time spent inside a node, children excluded. */
export class ExecutionTime {
  #averageNanos = 0;
  #sampleCount = 0;

  add(nanos: number): void {
    this.#sampleCount++;
    // An exponential average over about 100 samples; the first ones weigh as a plain mean.
    const weight = Math.max(1 / this.#sampleCount, 0.01);
    this.#averageNanos += (nanos - this.#averageNanos) * weight;
  }

  get averageNanos(): number {
    return Math.round(this.#averageNanos);
  }
}

/** Times nested calls while it is on. */
export class Sampler {
  readonly #clock: Clock;
  #nestedMs = 0;
  isOn = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  time(target: ExecutionTime, call: () => void): void {
    const outerMs = this.#nestedMs;
    this.#nestedMs = 0;
    const start = this.#clock.monotonicMs();
    call();
    const tookMs = this.#clock.monotonicMs() - start;
    target.add((tookMs - this.#nestedMs) * 1e6);
    this.#nestedMs = outerMs + tookMs;
  }
}

export class Edge implements Receiver {
  readonly parentName: string;
  readonly childName: string;
  /** Points (stream) or batches (batch) that passed. */
  count = 0;
  readonly #child: Receiver;
  readonly #sampler: Sampler;
  readonly #time: ExecutionTime;
  #observers: readonly EdgeObserver[] = [];

  constructor(
    names: { readonly parent: string; readonly child: string },
    child: Receiver,
    timing: { readonly sampler: Sampler; readonly time: ExecutionTime },
  ) {
    this.parentName = names.parent;
    this.childName = names.child;
    this.#child = child;
    this.#sampler = timing.sampler;
    this.#time = timing.time;
  }

  get isObserved(): boolean {
    return this.#observers.length > 0;
  }

  observe(observer: EdgeObserver): () => void {
    this.#observers = [...this.#observers, observer];
    return () => {
      this.#observers = this.#observers.filter((other) => other !== observer);
    };
  }

  point(point: Point): void {
    this.count++;
    if (this.#observers.length > 0) for (const observer of this.#observers) observer.point(point);
    if (this.#sampler.isOn) this.#sampler.time(this.#time, () => this.#child.point(point));
    else this.#child.point(point);
  }

  batch(batch: Batch): void {
    this.count++;
    for (const observer of this.#observers) observer.batch(batch);
    if (this.#sampler.isOn) this.#sampler.time(this.#time, () => this.#child.batch(batch));
    else this.#child.batch(batch);
  }

  barrier(barrier: Barrier): void {
    for (const observer of this.#observers) observer.barrier(barrier);
    this.#child.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    for (const observer of this.#observers) observer.deleteGroup(group);
    this.#child.deleteGroup(group);
  }

  /** For sources that pass rows to their child without this edge. */
  observers(): readonly EdgeObserver[] {
    return this.#observers;
  }
}

/** The output of a node with several children. */
export class FanOut implements Receiver {
  readonly #edges: readonly Edge[];

  constructor(edges: readonly Edge[]) {
    this.#edges = edges;
  }

  point(point: Point): void {
    for (const edge of this.#edges) edge.point(point);
  }

  batch(batch: Batch): void {
    for (const edge of this.#edges) edge.batch(batch);
  }

  barrier(barrier: Barrier): void {
    for (const edge of this.#edges) edge.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    for (const edge of this.#edges) edge.deleteGroup(group);
  }
}

/** The output of a node without children. */
export const NO_OUTPUT: Receiver = {
  point: () => undefined,
  batch: () => undefined,
  barrier: () => undefined,
  deleteGroup: () => undefined,
};
