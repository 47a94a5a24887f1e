// Options shared by all runs of a task: live, in a replay, in a task test.
import type { Clock } from '@tidemark/core';
import type { AlertDefaults, TaskLimits, TaskOptions } from '@tidemark/runtime';
import type { EngineConfig } from '../config/config.ts';

/** Shared by all tasks of an engine. */
export type TaskSetting = {
  readonly clock: Clock;
  /** Those of the configuration; omitted ones are the defaults of its settings. */
  readonly limits?: Partial<TaskLimits> | undefined;
  /** The present defaults of global handlers; none if there are none. */
  readonly alerts?: (() => AlertDefaults) | undefined;
};

/** The options of one run. */
export type TaskRun = Omit<TaskOptions, 'clock' | 'limits' | 'alerts'>;

/** Options of a run. */
export function taskOptions({ clock, limits, alerts }: TaskSetting, run: TaskRun): TaskOptions {
  return { clock, limits, alerts: alerts?.(), ...run };
}

/** Limits of a task in the section `task`. */
export function taskLimits({ task }: Pick<EngineConfig, 'task'>): Partial<TaskLimits> {
  return {
    groupCountMax: task.maxGroups,
    heldPointCountMax: task.maxHeldPoints,
    heldBytesMax: task.maxMemoryBytes,
    groupIdleMs: task.groupIdleTimeoutMs,
  };
}
