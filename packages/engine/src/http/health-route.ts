// Whether the engine works, for those who watch over processes: without credentials, hence without
// names.
import { TIDEMARK_VERSION } from '@tidemark/core';
import type { AlertService } from '@tidemark/alerting';
import type { Shared } from '../open-stores.ts';
import type { Executor } from '../tasks/executor.ts';
import type { TaskService } from '../tasks/task-service.ts';
import type { Api } from './server.ts';

export const HEALTH_PATH = '/health';

export type HealthOptions = {
  readonly tasks: TaskService;
  readonly executor: Executor;
  readonly alerts: AlertService;
  readonly shared: Shared | undefined;
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
  return check('dead-letters', alerts.deadLetters.count, 'events given up');
}

function checkCluster({ shared }: HealthOptions): readonly Check[] {
  if (shared === undefined) return [];
  if (shared.coordinatorProblem() !== undefined)
    return [{ name: 'cluster', status: 'warn', message: 'the coordinator does not answer' }];
  const gone = shared.members().filter(({ isAlive }) => !isAlive).length;
  return [check('cluster', gone, 'instances gone')];
}

function check(name: string, count: number, what: string): Check {
  return { name, status: count === 0 ? 'pass' : 'warn', message: `${count} ${what}` };
}
