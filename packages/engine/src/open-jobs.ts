// Opens recordings and replays as configured.
import { join } from 'node:path';
import type { OpenParts } from '@tidemark/core';
import type { Alerting } from './open-alerting.ts';
import type { EngineConfig } from './config/config.ts';
import type { Stores } from './open-stores.ts';
import type { TaskParts } from './open-tasks.ts';
import { Recordings } from './jobs/recordings.ts';
import { Replays } from './jobs/replays.ts';

export type Jobs = { readonly recordings: Recordings; readonly replays: Replays };

/** Where files of recordings are. */
export function recordingsDirectory(config: EngineConfig): string {
  return config.replay.dir || join(config[''].dataDir, 'replay');
}

/** Opens the stores of both: interrupted jobs are marked as failed. Closed with `parts`. */
export async function openJobs(
  { config, clock, metadata, redactor, clusters, shared }: Stores,
  { alerts }: Alerting,
  taskParts: TaskParts,
  parts: OpenParts,
): Promise<Jobs> {
  const { maxRunning: runningMax } = config.replay;
  const common = { metadata, clock, clusters, runningMax, redact: redactor.redact };
  const { tasks, checks, scheduler, router, createTask, setting, servicesOf } = taskParts;
  const recordings = new Recordings({
    ...common,
    directory: recordingsDirectory(config),
    exchange: shared?.recordings,
    router,
    scheduler,
    tasks,
    checks,
  });
  parts.add(() => recordings.close());
  await recordings.open();
  const replays = new Replays({
    ...common,
    recordings,
    tasks,
    checks,
    scheduler,
    alerts,
    createTask,
    setting,
    servicesOf,
  });
  parts.add(() => replays.close());
  await replays.open();
  return { recordings, replays };
}
