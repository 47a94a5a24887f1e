// Balances the tasks of a cluster: measures their needs, and moves some when an instance joins,
// leaves or has much more load than another.
import { messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { LOCAL_HOSTS } from '@tidemark/runtime/host';
import type { HostPool } from '@tidemark/runtime/host';
import type { Logger } from '../observability/log-hub.ts';
import type { Executor } from '../tasks/executor.ts';
import type { Snapshots } from '../tasks/snapshots.ts';
import type { Unit } from '../tasks/unit.ts';
import { Ticker } from '../ticker.ts';
import { assignTasks, InstanceChooser } from './assignment.ts';
import type { InstanceRoom, TaskNeed } from './assignment.ts';
import type { RemoteHosts } from './remote-hosts.ts';

export type TaskBalanceOptions = {
  readonly pool: HostPool;
  readonly remote: RemoteHosts;
  readonly executor: Executor;
  readonly snapshots: Snapshots;
  /** Id of this instance. */
  readonly self: string;
  /** Threads of this instance that run tasks. */
  readonly hostCount: number;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The load of one instance. */
export type InstanceLoad = {
  readonly pointsPerSecond: number;
  /** Memory of its tasks. */
  readonly heldBytes: number;
  /** Memory of its process. */
  readonly memoryBytes: number;
};

/** Interval of comparing the loads of instances. */
const BALANCE_MS = 10_000;

/**
 * Share of the leader's threads for tasks; it also reads points and stores the output of other
 * instances.
 */
const LEADER_SHARE = 0.5;

/** Each waits until its state is stored and the other instance has answered. */
const MOVED_AT_ONCE = 8;

/** How long a task that is moved waits for what it has sent. */
const OUTPUTS_MS = 2000;

/** Weight of the last second in the measured points. */
const POINTS_WEIGHT = 0.2;

export class TaskBalance {
  readonly #options: TaskBalanceOptions;
  readonly #points = new WeakMap<Unit, number>();
  /** Units that could not be started elsewhere. */
  readonly #kept = new WeakSet<Unit>();
  readonly #ticker: Ticker;
  /** Places for tasks that start before the next measurement, on these instances. */
  #chooser: { readonly of: string; readonly instances: InstanceChooser } | undefined;
  #working: Promise<void> | undefined;
  #isAgain = false;
  #isOpen = false;
  #isClosed = false;

  constructor(options: TaskBalanceOptions) {
    this.#options = options;
    options.pool.chooseBy(() => this.#placeForNew());
    options.remote.onChange = () => this.#request();
    this.#ticker = new Ticker(options.clock, BALANCE_MS, () => this.#request());
  }

  /** All tasks have been started: from now on they are moved. */
  open(): void {
    this.#isOpen = true;
    this.#request();
  }

  /** Called every second. */
  measure(): void {
    this.#chooser = undefined;
    for (const unit of this.#options.executor.units()) {
      const before = this.#points.get(unit) ?? unit.throughput;
      this.#points.set(unit, before + POINTS_WEIGHT * (unit.throughput - before));
    }
  }

  /** Ids of the instances by unit: a task, or a part of one that is split. */
  placed(): ReadonlyMap<string, string> {
    return new Map(this.#needs().map(({ id, instance }) => [id, instance ?? '']));
  }

  /** The loads of the instances, by id. */
  loads(): ReadonlyMap<string, InstanceLoad> {
    const { self, remote } = this.#options;
    const memory = new Map([
      [self, process.memoryUsage.rss()],
      ...remote.instances.map(({ id, memoryBytes }) => [id, memoryBytes] as const),
    ]);
    const needs = this.#needs();
    return new Map(
      [...memory].map(([id, memoryBytes]) => {
        const own = needs.filter(({ instance }) => instance === id);
        return [
          id,
          {
            pointsPerSecond: own.reduce((sum, task) => sum + task.pointsPerSecond, 0),
            heldBytes: own.reduce((sum, task) => sum + task.memoryBytes, 0),
            memoryBytes,
          },
        ] as const;
      }),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.remote.onChange = () => undefined;
    await this.#ticker.close();
    await this.#working;
  }

  /** Never rejects. One round at a time; changes during a round cause another one. */
  #request(): void {
    if (!this.#isOpen || this.#isClosed) return;
    if (this.#working !== undefined) {
      this.#isAgain = true;
      return;
    }
    this.#isAgain = false;
    this.#working = this.#round()
      .catch((error: unknown) =>
        this.#options.logger('error', 'failed to move tasks', { err: messageOf(error) }),
      )
      .finally(() => {
        this.#working = undefined;
        if (this.#isAgain) this.#request();
      });
  }

  async #round(): Promise<void> {
    const { executor, self, remote } = this.#options;
    const running = [...executor.units()];
    // Reading its counters measures the memory of a task.
    await Promise.all(running.map(({ task }) => task.refresh({ onlyChanged: true })));
    const needs = this.#needs();
    const wanted = assignTasks(needs, this.#rooms());
    const moves = needs.flatMap(({ id, instance }) => {
      const to = wanted.get(id);
      const unit = to === undefined || to === instance ? undefined : executor.unit(id);
      if (to === undefined || unit === undefined) return [];
      return this.#kept.has(unit) && to !== self ? [] : [{ unit, to }];
    });
    for (let at = 0; at < moves.length; at += MOVED_AT_ONCE) {
      // The state may have changed meanwhile.
      if (this.#isClosed || this.#isAgain) return;
      const some = moves.slice(at, at + MOVED_AT_ONCE);
      await Promise.all(some.map(({ unit, to }) => this.#move(unit, to)));
    }
    const left = new Set(this.#needs().map(({ instance }) => instance));
    for (const instance of remote.instances)
      if (instance.isLeaving && !left.has(instance.id)) await instance.close('it has no tasks');
  }

  /**
   * Continues a unit elsewhere from a state that is saved for this, with the points that it was
   * given since.
   */
  async #move(unit: Unit, to: string): Promise<void> {
    const { pool, snapshots, executor, self, logger } = this.#options;
    const { task, source } = unit;
    source?.hold?.();
    try {
      await executor.settleOutputs([unit], OUTPUTS_MS);
      if (!(await snapshots.save(executor, [unit]))) return;
      await pool.move(task, to === self ? LOCAL_HOSTS : to);
    } finally {
      source?.release?.();
    }
    const found = pool.locationOf(task);
    const chosen = found === LOCAL_HOSTS ? self : found;
    if (chosen !== to) this.#kept.add(unit);
    logger('info', 'a task was moved', { task: unit.unit, to: chosen });
  }

  /**
   * Where a task, or a part of one, is started. Many are, one after another, when an instance
   * begins to lead.
   */
  #placeForNew(): string {
    const { self } = this.#options;
    const rooms = this.#rooms();
    const of = JSON.stringify(rooms);
    if (this.#chooser?.of !== of)
      this.#chooser = { of, instances: new InstanceChooser(this.#needs(), rooms) };
    const chosen = this.#chooser.instances.next() ?? self;
    return chosen === self ? LOCAL_HOSTS : chosen;
  }

  #rooms(): readonly InstanceRoom[] {
    const { self, hostCount, remote } = this.#options;
    return [
      { id: self, capacity: remote.isStaying(self) ? hostCount * LEADER_SHARE : 0 },
      ...remote.instances.map(({ id, hostCount: hosts }) => ({
        id,
        capacity: remote.isStaying(id) ? hosts : 0,
      })),
    ];
  }

  #needs(): readonly TaskNeed[] {
    const { pool, executor, self } = this.#options;
    const needs: TaskNeed[] = [];
    for (const { task, unit, location } of pool.placed()) {
      const running = executor.unit(unit);
      const isOwn = running?.task === task;
      const { heldBytes } = task.stats();
      needs.push({
        id: unit,
        instance: location === LOCAL_HOSTS ? self : location,
        pointsPerSecond: isOwn ? (this.#points.get(running) ?? 0) : 0,
        memoryBytes: heldBytes,
      });
    }
    return needs;
  }
}
