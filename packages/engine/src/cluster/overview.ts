// What is said of a cluster: its instances, which of them runs which task, and how far copies and
// tasks are behind.
import type { Member } from '@tidemark/cluster';
import type { Shared } from '../open-stores.ts';
import type { Executor } from '../tasks/executor.ts';

export type InstanceView = {
  readonly member: Member;
  /** Tasks that it runs. */
  readonly tasks: number;
  /** Records of the shared log that its copy had not applied when it last gave a sign of life. */
  readonly copyLag: number;
  /** Writes that the slowest of its tasks has not been given. */
  readonly taskLag: number;
};

export type AssignedTask = {
  readonly id: string;
  /** Id of the instance that runs it; '' while none leads. */
  readonly instance: string;
  /** Writes that it has not been given. */
  readonly lag: number;
};

/** Running tasks by the instance that runs them: the leader runs all of them. */
export function assignedTasks(shared: Shared, executor: Executor): readonly AssignedTask[] {
  const instance = shared.members().find(({ isLeader }) => isLeader)?.id ?? '';
  const { last } = shared.points;
  return [...executor.all()].map(({ id, source }) => ({
    id,
    instance,
    lag: Math.max(0, last - (source?.sequence ?? last)),
  }));
}

export function instanceViews(shared: Shared, executor: Executor): readonly InstanceView[] {
  const tasks = assignedTasks(shared, executor);
  const end = shared.changesEnd();
  return shared.members().map((member) => {
    const own = tasks.filter(({ instance }) => instance === member.id);
    return {
      member,
      tasks: own.length,
      copyLag: member.isLeader ? 0 : Math.max(0, end - member.replica),
      taskLag: own.reduce((most, { lag }) => Math.max(most, lag), 0),
    };
  });
}
