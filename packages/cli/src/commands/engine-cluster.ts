// `tidemark engine-cluster up|status|down`: several engines and their coordinator on this machine,
// for trying and for tests.
import type { InstanceStatus, LocalClusterStatus } from '@tidemark/cluster';
import { systemClock } from '@tidemark/core';
import type { Command } from 'commander';

import { localClusterCommand, PROCESS_COLUMNS } from './local-cluster.ts';
import type { LocalClusterVerbs } from './local-cluster.ts';

type Counts = { readonly instances?: number | undefined };

const VERBS: LocalClusterVerbs<LocalClusterStatus, InstanceStatus, Counts> = {
  name: 'engine-cluster',
  description: 'Several task engines on this machine that share their work, for trying.',
  help: { up: 'NATS and the engines', status: ', whether they answer and how many tasks they run' },
  counts: [['--instances <count>', 'engines of a new cluster (default 3)']],
  start: async (directory, { instances }) => {
    const { startLocalCluster } = await import('@tidemark/cluster');
    return startLocalCluster({
      directory,
      instances,
      command: [process.execPath, process.argv[1] ?? ''],
      environment: process.env,
      clock: systemClock(),
    });
  },
  status: async (directory) => (await import('@tidemark/cluster')).localClusterStatus(directory),
  stop: async (directory) =>
    (await import('@tidemark/cluster')).stopLocalCluster(directory, systemClock()),
  ready: ({ coordinator, instances }) =>
    `coordinator=${coordinator.url} engines=${instances.map(({ url }) => url).join(',')}`,
  rows: ({ instances }) => instances,
  columns: [
    { title: 'INSTANCE', value: ({ instance }) => instance },
    ...PROCESS_COLUMNS,
    { title: 'LEADS', value: ({ isLeader }) => (isLeader ? 'yes' : 'no') },
    { title: 'TASKS', value: ({ tasks }) => tasks, isRightAligned: true },
    { title: 'PARTS', value: ({ parts }) => parts, isRightAligned: true },
  ],
  first: ({ coordinator }) => ({ name: 'coordinator', address: coordinator.url, ...coordinator }),
};

/** The command with its subcommands. */
export function engineClusterCommand(finish: (status: number) => void): Command {
  return localClusterCommand(VERBS, finish);
}
