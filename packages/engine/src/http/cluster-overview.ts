// The state of a cluster as the API shows it: its instances, the instance of each task, and how far
// copies and tasks lag behind.
import type { Member } from '@tidemark/cluster';
import type { Shared } from '../open-stores.ts';
import type { Executor } from '../tasks/executor.ts';
import type { InstanceLoad, TaskBalance } from '../cluster/task-balance.ts';

export type InstanceView = {
  readonly member: Member;
  /** Tasks that it runs; each part of a split task counts. */
  readonly tasks: number;
  /** Number of parts among these. */
  readonly parts: number;
  /** Records of the shared log that its copy had not applied at its last heartbeat. */
  readonly copyLag: number;
  /** Writes that the slowest of its tasks has not been given. */
  readonly taskLag: number;
  /** `undefined` for an instance that runs no tasks for others, and if all run on the leader. */
  readonly load: InstanceLoad | undefined;
};

/** A task, or a part of one that is split. */
export type AssignedTask = {
  readonly id: string;
  /** For a part of a task: its number, from 1, and the number of parts. */
  readonly part?: number;
  readonly parts?: number;
  /** Id of the instance that runs it; '' while none leads. */
  readonly instance: string;
  /** Writes that it has not been given. */
  readonly lag: number;
  /** Writes that were purged before it was given them; usually absent. */
  readonly missing?: number | undefined;
};

/** Running tasks by the instance that runs them; without a balance that is the leader. */
export function assignedTasks(
  shared: Shared,
  executor: Executor,
  balance: TaskBalance | undefined,
): readonly AssignedTask[] {
  const leader = shared.members().find(({ isLeader }) => isLeader)?.id ?? '';
  const { last } = shared.points;
  const placed = balance?.placed();
  return [...executor.units()].map(({ id, unit, part, source }) => ({
    id,
    ...(part === undefined ? {} : { part: part.index + 1, parts: part.count }),
    instance: placed?.get(unit) ?? leader,
    lag: Math.max(0, last - (source?.sequence ?? last)),
    ...((source?.missing ?? 0) > 0 ? { missing: source?.missing } : {}),
  }));
}

export function instanceViews(
  shared: Shared,
  executor: Executor,
  balance: TaskBalance | undefined,
): readonly InstanceView[] {
  const tasks = assignedTasks(shared, executor, balance);
  const loads = balance?.loads();
  const end = shared.changesEnd();
  return shared.members().map((member) => {
    const own = tasks.filter(({ instance }) => instance === member.id);
    return {
      member,
      tasks: own.length,
      parts: own.filter(({ part }) => part !== undefined).length,
      copyLag: member.isLeader ? 0 : Math.max(0, end - member.replica),
      taskLag: own.reduce((most, { lag }) => Math.max(most, lag), 0),
      load: loads?.get(member.id),
    };
  });
}
