// Changes of what a task does. One that runs goes on as it was started until it is started anew.
import type { Task, TaskChange } from '@tidemark/client';

import { engine } from '../../api/clients.ts';

/**
 * Changes a definition; a task that is enabled runs the new one afterwards. When that can not start
 * it is refused, or the task stays stored with the reason.
 */
export async function redefine(
  { id, status }: Pick<Task, 'id' | 'status'>,
  change: TaskChange,
): Promise<Task> {
  const wanted = change.status ?? status;
  if (status === 'disabled' || wanted === 'disabled') return engine.changeTask(id, change);
  await engine.changeTask(id, { ...change, status: 'disabled' });
  return engine.changeTask(id, { status: 'enabled' });
}
