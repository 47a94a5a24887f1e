// Who is in the cluster, and asking one of them to leave the lead. On an engine without a cluster
// there is nobody.
import { NotFound } from '@tidemark/core';
import type { Member } from '@tidemark/cluster';
import type { Shared } from '../open-stores.ts';
import type { Executor } from '../tasks/executor.ts';
import type { Api } from './server.ts';

export function addClusterRoutes(
  api: Api,
  { shared, executor }: { readonly shared: Shared | undefined; readonly executor: Executor },
): void {
  api.on('GET', '/cluster/members', (request) => ({
    status: 200,
    json: {
      link: { rel: 'self', href: `${request.base}/cluster/members` },
      members: (shared?.members() ?? []).map((member) => memberView(member, executor)),
    },
  }));
  api.on('POST', '/cluster/members/:member/drain', async (request) => {
    const id = request.params['member'] ?? '';
    const members = shared?.members() ?? [];
    const found = members.find((member) => member.id === id || member.url === id);
    if (shared === undefined || found === undefined)
      throw new NotFound(`the cluster has no instance ${JSON.stringify(id)}`);
    await shared.drain(found.id);
    return { status: 204 };
  });
}

function memberView(member: Member, executor: Executor): Readonly<Record<string, unknown>> {
  const { id, url, hostname, pid, version, isAlive, isLeader, isDraining } = member;
  return {
    id,
    url,
    hostname,
    pid,
    version,
    state: isAlive ? (isDraining ? 'draining' : 'alive') : 'gone',
    leader: isLeader,
    // The leader runs all of them.
    tasks: isLeader ? executor.count : 0,
  };
}
