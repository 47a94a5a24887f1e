// Changes the definition of a task. A running task is restarted.
import type { Task, TaskChange } from '@tidemark/client';

import { engine } from '../../api/clients.ts';

/**
 * Changes a definition; an enabled task restarts with the new one. If that cannot start, nothing
 * changes.
 */
export function redefine({ id }: Pick<Task, 'id'>, change: TaskChange): Promise<Task> {
  return engine.changeTask(id, { ...change, restart: true });
}
