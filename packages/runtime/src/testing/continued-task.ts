// Tasks that are continued from the state of one whose thread has ended. Imported by tests only.
import { buildPipeline } from '@tidemark/pipeline';
import type { Clock } from '@tidemark/core';
import { PointBatchBuilder } from '../point-batch.ts';
import type { TaskServices } from '../services.ts';
import { createTask } from '../task.ts';
import type { InlineTask } from '../task.ts';
import { silentServices } from './silent-services.ts';

/** A service that never answers. */
export const never = (): Promise<never> => new Promise(() => undefined);

export function taskOf(script: string, services: Partial<TaskServices>, clock: Clock): InlineTask {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  return createTask(pipeline, silentServices(services), { taskId: 't', clock });
}

/** Points of `m` with the values as their field and as their times. */
export function pushValues(task: InlineTask, values: readonly number[]): void {
  const builder = new PointBatchBuilder('d', 'r');
  for (const v of values)
    builder.add({ name: 'm', tags: [['h', 'a']], fields: [['v', v]], time: BigInt(v) });
  task.push(builder.build());
}

/** Starts `next` from the state that `task` has. */
export async function continueIn(next: InlineTask, task: InlineTask): Promise<void> {
  next.restore(structuredClone(await task.takeState()));
  await next.start();
}
