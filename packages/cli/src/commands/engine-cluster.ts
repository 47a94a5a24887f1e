// `tidemark engine-cluster up|status|down`: several engines and their coordinator on this machine,
// for trying and for tests.
import type { InstanceStatus, LocalClusterStatus } from '@tidemark/cluster';
import { systemClock } from '@tidemark/core';
import { Command, InvalidArgumentError } from 'commander';

import { ExitStatus } from '../exit.ts';
import { formatTable, print, printJson } from '../output/table.ts';

type Flags = {
  readonly dir: string;
  readonly instances?: number | undefined;
  readonly json?: boolean | undefined;
};

/** The command with its subcommands. */
export function engineClusterCommand(finish: (status: number) => void): Command {
  return new Command('engine-cluster')
    .description('Several task engines on this machine that share their work, for trying.')
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
    'Start NATS and the engines on free ports of loopback, print a line when they answer, and leave them running. What runs already is left alone.',
  )
    .option('--instances <count>', 'engines of a new cluster (default 3)', count)
    .option('--json', 'print JSON')
    .action(async ({ dir, instances, json }: Flags) => {
      const { startLocalCluster } = await import('@tidemark/cluster');
      const status = await startLocalCluster({
        directory: dir,
        instances,
        command: [process.execPath, process.argv[1] ?? ''],
        environment: process.env,
        clock: systemClock(),
      });
      if (json === true) printJson(status);
      else
        print(
          `ready coordinator=${status.coordinator.url} engines=${status.instances.map(({ url }) => url).join(',')}`,
        );
    });
}

function statusCommand(finish: (status: number) => void): Command {
  return subcommand(
    'status',
    'Print the processes of a cluster, whether they answer and how many tasks they run; exit status 1 when one does not answer.',
  )
    .option('--json', 'print JSON')
    .action(async ({ dir, json }: Flags) => {
      const { localClusterStatus } = await import('@tidemark/cluster');
      const status = await localClusterStatus(dir);
      if (json === true) printJson(status);
      else printStatus(status);
      const isUp = status.coordinator.isUp && status.instances.every((instance) => instance.isUp);
      finish(isUp ? ExitStatus.Ok : ExitStatus.Failed);
    });
}

function downCommand(): Command {
  return subcommand('down', 'End the processes of a cluster. Its data stays.').action(
    async ({ dir }: Flags) => {
      const { stopLocalCluster } = await import('@tidemark/cluster');
      await stopLocalCluster(dir, systemClock());
    },
  );
}

function printStatus({ instances, coordinator }: LocalClusterStatus): void {
  const state = ({ isUp }: { readonly isUp: boolean }): string => (isUp ? 'up' : 'down');
  print(
    formatTable<InstanceStatus>(
      [
        { title: 'INSTANCE', value: ({ instance }) => instance },
        { title: 'URL', value: ({ url }) => url },
        { title: 'PID', value: ({ pid }) => pid, isRightAligned: true },
        { title: 'STATE', value: state },
        { title: 'LEADS', value: ({ isLeader }) => (isLeader ? 'yes' : 'no') },
        { title: 'TASKS', value: ({ tasks }) => tasks, isRightAligned: true },
      ],
      instances,
    ),
  );
  print(`coordinator ${coordinator.url} pid ${coordinator.pid} ${state(coordinator)}`);
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a count from 1 on');
  return value;
}
