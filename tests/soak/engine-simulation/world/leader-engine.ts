// The leader's engine in a simulation: the real stores, alerts and tasks over the logs of its term,
// without a server in front of it.
import { resolveEngineConfig } from '../../../../packages/engine/src/config/config.ts';
import type { OpenParts } from '@tidemark/core';
import type { RunningTask } from '@tidemark/runtime';
import type { Shared } from '../../../../packages/engine/src/open-stores.ts';
import { openStores } from '../../../../packages/engine/src/open-stores.ts';
import type { StoresOptions } from '../../../../packages/engine/src/open-stores.ts';
import { openAlerting } from '../../../../packages/engine/src/open-alerting.ts';
import { openTasks } from '../../../../packages/engine/src/open-tasks.ts';
import type { TaskParts } from '../../../../packages/engine/src/open-tasks.ts';
import { feedPoints, keepTasks, resumeTasks } from '../../../../packages/engine/src/run-tasks.ts';
import { LoadDirectory } from '../../../../packages/engine/src/tasks/load-directory.ts';
import type { FileReader } from '../../../../packages/engine/src/tasks/load-directory.ts';
import type { TaskInput } from '../../../../packages/engine/src/tasks/task-change.ts';
import type { ListenerPoint } from '@tidemark/listeners';
import { DATABASE } from '../workload/tasks.ts';

/** How often states are saved. */
const SAVE_MS = 1000;

export const SIMULATED_CONFIG = resolveEngineConfig([
  {
    source: 'simulation',
    values: {
      'secrets-key': 'env:KEY',
      hostname: 'simulated',
      task: { hosts: '1' },
      // Points are purged within a run; what is not synced is lost with the whole coordinator.
      cluster: { 'snapshot-interval': `${SAVE_MS}ms`, 'sync-interval': '0s' },
      logging: { level: 'INFO' },
    },
  },
]).config;

export type LeaderEngineOptions = Pick<StoresOptions, 'clock' | 'log' | 'sender'> & {
  readonly shared: Shared;
  /** Files with definitions; `undefined`: it has no such setting. */
  readonly load: SimulatedLoad | undefined;
};

export type SimulatedLoad = {
  readonly directory: string;
  readonly files: FileReader;
  /** All of it is loaded, or not all. */
  readonly ended: (isLoaded: boolean) => void;
};

export class LeaderEngine {
  readonly #taskParts: TaskParts;

  private constructor(taskParts: TaskParts) {
    this.#taskParts = taskParts;
  }

  static async open(options: LeaderEngineOptions, parts: OpenParts): Promise<LeaderEngine> {
    const stores = await openStores(
      {
        ...options,
        config: SIMULATED_CONFIG,
        environment: {},
        skipsOverrides: true,
        ownDatabase: undefined,
      },
      parts,
    );
    const alerting = openAlerting(stores, parts);
    const taskParts = await openTasks(stores, alerting, parts);
    const service = { isListening: false };
    await resumeTasks(stores, taskParts, service, parts);
    feedPoints(stores, taskParts, parts);
    if (options.load !== undefined) {
      const { directory, files, ended } = options.load;
      const { metadata, logs } = stores;
      const { alerts } = alerting;
      const log = logs.logger('load');
      const load = new LoadDirectory({ ...taskParts, directory, metadata, alerts, log, files });
      await load.loadIfChanged();
      ended(load.errors.size === 0);
    }
    service.isListening = true;
    keepTasks(stores, taskParts, parts);
    return new LeaderEngine(taskParts);
  }

  /** Puts a definition, or removes it. */
  async define(id: string, input: TaskInput | undefined): Promise<void> {
    const { tasks } = this.#taskParts;
    if (input === undefined) return tasks.delete(id);
    if (tasks.get(id) === undefined) await tasks.define({ ...input, id });
    else await tasks.patch(id, input);
  }

  has(id: string): boolean {
    return this.#taskParts.tasks.get(id) !== undefined;
  }

  async write(lines: string): Promise<void> {
    await this.#taskParts.writes.write(Buffer.from(lines), { ...DATABASE, precision: 'ns' });
  }

  /** As a listener does; answers how many were left out. */
  async writePoints(points: readonly ListenerPoint[]): Promise<number> {
    const { dropped } = await this.#taskParts.writes.writePoints(DATABASE, points);
    return dropped?.count ?? 0;
  }

  /** The tasks that run, or ran, under an id. */
  unitsOf(id: string): readonly RunningTask[] {
    return this.#taskParts.executor.unitsOf(id).map(({ task }) => task);
  }

  /** Whether it runs, or did before something ended it. */
  hasStarted(id: string): boolean {
    return this.#taskParts.executor.entry(id) !== undefined;
  }

  /** Why a task does not run; `undefined` when it does. */
  problemOf(id: string): string | undefined {
    const entry = this.#taskParts.executor.entry(id);
    if (entry !== undefined) return entry.task.error;
    const { error = '' } = this.#taskParts.tasks.get(id) ?? {};
    return error === '' ? 'does not run' : error;
  }
}
