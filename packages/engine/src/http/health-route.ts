// The health of the engine, for monitoring. It needs no credentials, so it shows no names.
import { TIDEMARK_VERSION } from '@tidemark/core';
import type { Limit } from '@tidemark/core';
import type { Member } from '@tidemark/cluster';
import type { AlertService } from '@tidemark/alerting';
import { instanceViews } from './cluster-overview.ts';
import type { TaskBalance } from '../cluster/task-balance.ts';
import { COPY_LAG, TASK_LAG } from '../limits.ts';
import type { Shared } from '../open-stores.ts';
import type { Executor } from '../tasks/executor.ts';
import type { TaskService } from '../tasks/task-service.ts';
import type { Api } from './api.ts';

export const HEALTH_PATH = '/health';

export type HealthOptions = {
  readonly tasks: TaskService;
  readonly executor: Executor;
  readonly alerts: AlertService;
  readonly shared: Shared | undefined;
  readonly balance: TaskBalance | undefined;
};

type Check = { readonly name: string; readonly status: 'pass' | 'warn'; readonly message: string };

export function addHealthRoute(api: Api, options: HealthOptions): void {
  api.onRoot('GET', HEALTH_PATH, () => {
    const checks = [checkTasks(options), checkDeadLetters(options), ...checkCluster(options)];
    const bad = checks.filter(({ status }) => status === 'warn');
    return {
      status: 200,
      json: {
        checks,
        message: bad.length === 0 ? 'ready' : bad.map(({ message }) => message).join(', '),
        name: 'tidemark-engine',
        status: bad.length === 0 ? 'pass' : 'warn',
        version: TIDEMARK_VERSION,
      },
    };
  });
}

function checkTasks({ tasks, executor }: HealthOptions): Check {
  let count = 0;
  for (const { id, status } of tasks.all()) {
    if (status === 'enabled' && executor.running(id) === undefined) count++;
  }
  return check('tasks', count, 'enabled but not running');
}

function checkDeadLetters({ alerts }: HealthOptions): Check {
  return check('dead-letters', alerts.deadLetters.count, 'undeliverable events');
}

function checkCluster({ shared, executor, balance }: HealthOptions): readonly Check[] {
  if (shared === undefined) return [];
  if (shared.coordinatorProblem() !== undefined)
    return [{ name: 'cluster', status: 'warn', message: 'the coordinator does not answer' }];
  const views = instanceViews(shared, executor, balance);
  const count = (is: (member: Member) => boolean): number =>
    views.filter(({ member }) => is(member)).length;
  const most = (lag: 'copyLag' | 'taskLag'): number =>
    views.reduce((sum, { member, [lag]: own }) => Math.max(sum, member.isAlive ? own : 0), 0);
  return [
    check(
      'cluster',
      count(({ isAlive }) => !isAlive),
      'instances gone',
    ),
    check(
      'cluster-copies',
      count(({ problem }) => problem !== undefined),
      'instances cannot follow the shared log',
    ),
    check(
      'points',
      shared.points.unreadableCount,
      'writes that cannot be read were set aside in unreadable-points',
    ),
    check(
      'tasks-missing-points',
      [...executor.units()].filter(({ source }) => (source?.missing ?? 0) > 0).length,
      'tasks, or parts of them, lack writes that the coordinator has lost',
    ),
    behind('copies', { most: most('copyLag'), what: 'records' }, COPY_LAG),
    behind('running-tasks', { most: most('taskLag'), what: 'writes' }, TASK_LAG),
  ];
}

function behind(
  name: string,
  { most, what }: { readonly most: number; readonly what: string },
  limit: Limit,
): Check {
  const status = most > limit.value ? 'warn' : 'pass';
  return { name, status, message: `${most} ${what} behind` };
}

function check(name: string, count: number, what: string): Check {
  return { name, status: count === 0 ? 'pass' : 'warn', message: `${count} ${what}` };
}
