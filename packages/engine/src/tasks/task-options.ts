// Options shared by all runs of a task: live, in a replay, in a task test.
import type { Clock } from '@tidemark/core';
import type { AlertDefaults, TaskLimits, TaskOptions } from '@tidemark/runtime';
import type { EngineConfig } from '../config/config.ts';

/** What all tasks of an engine share. */
export type TaskSetting = {
  readonly clock: Clock;
  /** Those of the configuration; left out are the defaults of its settings. */
  readonly limits?: Partial<TaskLimits> | undefined;
  /** What global handlers change at this moment; nothing where there are none. */
  readonly alerts?: (() => AlertDefaults) | undefined;
};

/** What belongs to one run. */
export type TaskRun = Omit<TaskOptions, 'clock' | 'limits' | 'alerts'>;

/** Options of a run. */
export function taskOptions({ clock, limits, alerts }: TaskSetting, run: TaskRun): TaskOptions {
  return { clock, limits, alerts: alerts?.(), ...run };
}

/** Bounds of a task as the section `task` has them. */
export function taskLimits({ task }: Pick<EngineConfig, 'task'>): Partial<TaskLimits> {
  return {
    groupCountMax: task.maxGroups,
    heldPointCountMax: task.maxHeldPoints,
    heldBytesMax: task.maxMemoryBytes,
    groupIdleMs: task.groupIdleTimeoutMs,
  };
}
