// Whether a task does what it is for.
import type { Task } from '@tidemark/client';

import { texts } from '../../texts/texts.ts';
import { figuresOf } from '../tasks/figures.ts';

/** Why a task needs attention; empty when it does not. */
export function problemsOf(task: Task): readonly string[] {
  const { error, warnings = [] } = task;
  const { errorCount } = figuresOf(task);
  return [
    ...(error === '' ? [] : [error]),
    ...warnings.map(({ message }) => message),
    ...(task.executing && errorCount > 0 ? [texts.tasks.errorCount(errorCount)] : []),
  ];
}

export const needsAttention = (task: Task): boolean => problemsOf(task).length > 0;
