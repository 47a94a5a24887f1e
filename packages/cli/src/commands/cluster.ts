// `tidemark cluster up|status|down`: a complete ClickHouse cluster on this machine, for trying and
// for tests.
import type { ClusterStatus, NodeStatus } from '@tidemark/clickhouse';
import { systemClock } from '@tidemark/core';
import type { Command } from 'commander';

import { localClusterCommand, PROCESS_COLUMNS } from './local-cluster.ts';
import type { LocalClusterVerbs } from './local-cluster.ts';

type Counts = { readonly shards?: number | undefined; readonly replicas?: number | undefined };

const VERBS: LocalClusterVerbs<ClusterStatus, NodeStatus, Counts> = {
  name: 'cluster',
  description: 'A ClickHouse cluster on this machine, for trying and for tests.',
  help: { up: 'ZooKeeper and ClickHouse', status: ' and whether they answer' },
  counts: [
    ['--shards <count>', 'shards of a new cluster (default 2)'],
    ['--replicas <count>', 'replicas of each shard of a new cluster (default 2)'],
  ],
  start: async (directory, counts) => {
    const { startCluster } = await import('@tidemark/clickhouse');
    const { env: environment } = process;
    return startCluster({ directory, ...counts, environment, clock: systemClock() });
  },
  status: async (directory) => (await import('@tidemark/clickhouse')).clusterStatus(directory),
  stop: async (directory) =>
    (await import('@tidemark/clickhouse')).stopCluster(directory, systemClock()),
  ready: ({ nodes, zookeeper }) =>
    `clickhouse=${nodes.map(({ url }) => url).join(',')} zookeeper=${zookeeper.address}`,
  rows: ({ nodes }) => nodes,
  columns: [
    { title: 'NODE', value: ({ node }) => node },
    { title: 'SHARD', value: ({ shard }) => shard, isRightAligned: true },
    { title: 'REPLICA', value: ({ replica }) => replica, isRightAligned: true },
    ...PROCESS_COLUMNS,
  ],
  first: ({ zookeeper }) => ({ name: 'zookeeper', ...zookeeper }),
};

/** The command with its subcommands. */
export function clusterCommand(finish: (status: number) => void): Command {
  return localClusterCommand(VERBS, finish);
}
