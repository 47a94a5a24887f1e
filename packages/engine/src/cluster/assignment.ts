// Assigns tasks to instances by the measured needs of the tasks and the capacity of the instances.
// A task stays in place unless its instance accepts no more tasks or has clearly more load than
// others.

export type TaskNeed = {
  readonly id: string;
  /** Its present instance; `undefined` when it is to be started. */
  readonly instance: string | undefined;
  readonly pointsPerSecond: number;
  readonly memoryBytes: number;
};

export type InstanceRoom = {
  readonly id: string;
  /** Its relative capacity; 0 accepts no tasks. */
  readonly capacity: number;
};

/** An instance may have this much more load than the least loaded one, as a share of the mean. */
const TOLERANCE = 0.3;

/** A move has to gain more than the rounding errors of such sums. */
const LEAST_GAIN = 1e-9;

type Load = { readonly id: string; readonly capacity: number; weight: number };
type Weighed = {
  readonly id: string;
  readonly instance: string | undefined;
  readonly weight: number;
};

/**
 * The instance of every task; none if no instance accepts any. The result does not depend on the
 * order of the parameters, and does not change when it is applied again.
 */
export function assignTasks(
  tasks: readonly TaskNeed[],
  instances: readonly InstanceRoom[],
): ReadonlyMap<string, string> {
  const loads = emptyLoads(instances);
  const placed = new Map<string, string>();
  if (loads.size === 0) return placed;
  // Heaviest first.
  const weighed = [...weigh(tasks)].sort((a, b) => b.weight - a.weight || byId(a, b));
  for (const { id, instance, weight } of weighed) {
    const load = instance === undefined ? undefined : loads.get(instance);
    if (load === undefined) continue;
    load.weight += weight;
    placed.set(id, load.id);
  }
  for (const { id, weight } of weighed) {
    if (placed.has(id)) continue;
    const load = leastLoaded(loads, weight);
    load.weight += weight;
    placed.set(id, load.id);
  }
  even(loads, weighed, placed);
  return placed;
}

/** The best instances to start tasks on one after another, while their needs are unknown. */
export class InstanceChooser {
  readonly #loads: ReadonlyMap<string, Load>;
  readonly #weight: number;

  constructor(tasks: readonly TaskNeed[], instances: readonly InstanceRoom[]) {
    this.#loads = emptyLoads(instances);
    this.#weight = 1 / Math.max(1, tasks.length);
    for (const { instance, weight } of weigh(tasks)) {
      const load = instance === undefined ? undefined : this.#loads.get(instance);
      if (load !== undefined) load.weight += weight;
    }
  }

  /**
   * The instance for one more task, which counts as its load from now on; `undefined` if no
   * instance accepts tasks.
   */
  next(): string | undefined {
    if (this.#loads.size === 0) return undefined;
    const load = leastLoaded(this.#loads, this.#weight);
    load.weight += this.#weight;
    return load.id;
  }
}

function emptyLoads(instances: readonly InstanceRoom[]): Map<string, Load> {
  const loads = new Map<string, Load>();
  for (const { id, capacity } of [...instances].sort(byId))
    if (capacity > 0) loads.set(id, { id, capacity, weight: 0 });
  return loads;
}

/** The need of a task is its share of the points, of the memory and of the tasks. */
function weigh(tasks: readonly TaskNeed[]): readonly Weighed[] {
  const points = tasks.reduce((sum, task) => sum + task.pointsPerSecond, 0);
  const bytes = tasks.reduce((sum, task) => sum + task.memoryBytes, 0);
  const part = (of: number, all: number): number => (all > 0 ? of / all : 0);
  return tasks.map(({ id, instance, pointsPerSecond, memoryBytes }) => ({
    id,
    instance,
    weight: part(pointsPerSecond, points) + part(memoryBytes, bytes) + 1 / tasks.length,
  }));
}

/** The instance with the least load after adding `more`; the first by id among several. */
function leastLoaded(loads: ReadonlyMap<string, Load>, more: number): Load {
  const [first, ...others] = loads.values();
  let best = first as Load;
  for (const each of others) if (withMore(each, more) < withMore(best, more)) best = each;
  return best;
}

/** Moves tasks one by one, each time the one that reduces the difference most. */
function even(
  loads: ReadonlyMap<string, Load>,
  tasks: readonly Weighed[],
  placed: Map<string, string>,
): void {
  const all = [...loads.values()];
  const mean =
    all.reduce((sum, { weight }) => sum + weight, 0) /
    all.reduce((sum, { capacity }) => sum + capacity, 0);
  // Every move replaces the highest load by two lower ones, so the loop ends.
  for (;;) {
    const most = all.reduce((a, b) => (withMore(b, 0) > withMore(a, 0) ? b : a));
    const least = leastLoaded(loads, 0);
    const gap = withMore(most, 0) - withMore(least, 0);
    if (gap <= TOLERANCE * mean) return;
    let best: { readonly task: Weighed; readonly highest: number } | undefined;
    for (const task of tasks) {
      if (placed.get(task.id) !== most.id) continue;
      const highest = Math.max(withMore(most, -task.weight), withMore(least, task.weight));
      if (highest < (best?.highest ?? withMore(most, 0) - LEAST_GAIN * mean))
        best = { task, highest };
    }
    if (best === undefined) return;
    const { task } = best;
    most.weight -= task.weight;
    least.weight += task.weight;
    placed.set(task.id, least.id);
  }
}

function withMore({ weight, capacity }: Load, more: number): number {
  return (weight + more) / capacity;
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
