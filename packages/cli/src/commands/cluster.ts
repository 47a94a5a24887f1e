// `tidemark cluster up|status|down`: a complete ClickHouse cluster on this machine, for trying and
// for tests.
import type { ClusterStatus, NodeStatus } from '@tidemark/clickhouse';
import { systemClock } from '@tidemark/core';
import { Command, InvalidArgumentError } from 'commander';

import { ExitStatus } from '../exit.ts';
import { formatTable, print, printJson } from '../output/table.ts';

type Flags = {
  readonly dir: string;
  readonly shards?: number | undefined;
  readonly replicas?: number | undefined;
  readonly json?: boolean | undefined;
};

/** The command with its subcommands. */
export function clusterCommand(finish: (status: number) => void): Command {
  return new Command('cluster')
    .description('A ClickHouse cluster on this machine, for trying and for tests.')
    .addCommand(upCommand())
    .addCommand(statusCommand(finish))
    .addCommand(downCommand());
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--dir <dir>', 'folder of its configuration, its data and its logs')
    .exitOverride();
}

function upCommand(): Command {
  return subcommand(
    'up',
    'Start ZooKeeper and ClickHouse on free ports of loopback, print a line when they answer, and leave them running. What runs already is left alone.',
  )
    .option('--shards <count>', 'shards of a new cluster (default 2)', count)
    .option('--replicas <count>', 'replicas of each shard of a new cluster (default 2)', count)
    .option('--json', 'print JSON')
    .action(async ({ dir, shards, replicas, json }: Flags) => {
      const { startCluster } = await import('@tidemark/clickhouse');
      const status = await startCluster({
        directory: dir,
        shards,
        replicas,
        environment: process.env,
        clock: systemClock(),
      });
      if (json === true) printJson(status);
      else
        print(
          `ready clickhouse=${status.nodes.map(({ url }) => url).join(',')} zookeeper=${status.zookeeper.address}`,
        );
    });
}

function statusCommand(finish: (status: number) => void): Command {
  return subcommand(
    'status',
    'Print the processes of a cluster and whether they answer; exit status 1 when one does not.',
  )
    .option('--json', 'print JSON')
    .action(async ({ dir, json }: Flags) => {
      const { clusterStatus } = await import('@tidemark/clickhouse');
      const status = await clusterStatus(dir);
      if (json === true) printJson(status);
      else printStatus(status);
      const isUp = status.zookeeper.isUp && status.nodes.every((node) => node.isUp);
      finish(isUp ? ExitStatus.Ok : ExitStatus.Failed);
    });
}

function downCommand(): Command {
  return subcommand('down', 'End the processes of a cluster. Its data stays.').action(
    async ({ dir }: Flags) => {
      const { stopCluster } = await import('@tidemark/clickhouse');
      await stopCluster(dir, systemClock());
    },
  );
}

function printStatus({ nodes, zookeeper }: ClusterStatus): void {
  const state = ({ isUp }: { readonly isUp: boolean }): string => (isUp ? 'up' : 'down');
  print(
    formatTable<NodeStatus>(
      [
        { title: 'NODE', value: ({ node }) => node },
        { title: 'SHARD', value: ({ shard }) => shard, isRightAligned: true },
        { title: 'REPLICA', value: ({ replica }) => replica, isRightAligned: true },
        { title: 'URL', value: ({ url }) => url },
        { title: 'PID', value: ({ pid }) => pid, isRightAligned: true },
        { title: 'STATE', value: state },
      ],
      nodes,
    ),
  );
  print(`zookeeper ${zookeeper.address} pid ${zookeeper.pid} ${state(zookeeper)}`);
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a count from 1 on');
  return value;
}
