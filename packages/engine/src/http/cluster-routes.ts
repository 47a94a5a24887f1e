// Endpoints of the cluster: its members, the instance of each task, and draining a member. On an
// engine without a cluster the lists are empty.
import { Conflict, NotFound } from '@tidemark/core';
import type { Member } from '@tidemark/cluster';
import { assignedTasks, instanceViews } from './cluster-overview.ts';
import type { InstanceView } from './cluster-overview.ts';
import type { Shared } from '../open-stores.ts';
import type { TaskBalance } from '../cluster/task-balance.ts';
import type { Executor } from '../tasks/executor.ts';
import type { Api, ApiRequest } from './api.ts';

export function addClusterRoutes(
  api: Api,
  {
    shared,
    executor,
    balance,
  }: {
    readonly shared: Shared | undefined;
    readonly executor: Executor;
    readonly balance: TaskBalance | undefined;
  },
): void {
  api.on('GET', '/cluster/members', (request) => ({
    status: 200,
    json: {
      link: { rel: 'self', href: `${request.base}/cluster/members` },
      members: shared === undefined ? [] : instanceViews(shared, executor, balance).map(memberView),
    },
  }));
  api.on('GET', '/cluster/tasks', (request) => ({
    status: 200,
    json: {
      link: { rel: 'self', href: `${request.base}/cluster/tasks` },
      tasks: shared === undefined ? [] : assignedTasks(shared, executor, balance),
    },
  }));
  api.on('POST', '/cluster/members/:member/drain', async (request) => {
    const { found, cluster } = memberOf(request, shared);
    await cluster.drain(found.id);
    return { status: 204 };
  });
  api.on('DELETE', '/cluster/members/:member', async (request) => {
    const { found, cluster } = memberOf(request, shared);
    if (found.isAlive)
      throw new Conflict(`instance ${found.id} is alive: stop it before it is forgotten`);
    await cluster.forget(found.id);
    return { status: 204 };
  });
}

function memberOf(
  request: ApiRequest,
  shared: Shared | undefined,
): { readonly found: Member; readonly cluster: Shared } {
  const id = request.params['member'] ?? '';
  const found = shared?.members().find((member) => member.id === id || member.url === id);
  if (shared === undefined || found === undefined)
    throw new NotFound(`the cluster has no instance ${JSON.stringify(id)}`);
  return { found, cluster: shared };
}

function memberView(view: InstanceView): Readonly<Record<string, unknown>> {
  const { member, tasks, parts, copyLag, taskLag, load } = view;
  const { id, url, hostname, pid, version, level, isAlive, isLeader, isDraining, problem } = member;
  return {
    id,
    url,
    hostname,
    pid,
    version,
    level,
    state: isAlive ? (isDraining ? 'draining' : 'alive') : 'gone',
    leader: isLeader,
    tasks,
    parts,
    'points-per-second': Math.round(load?.pointsPerSecond ?? 0),
    'held-bytes': load?.heldBytes ?? 0,
    'memory-bytes': load?.memoryBytes ?? 0,
    'copy-lag': copyLag,
    'task-lag': taskLag,
    ...(problem === undefined ? {} : { problem }),
  };
}
