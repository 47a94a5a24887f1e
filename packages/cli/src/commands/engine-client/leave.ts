// `tidemark engine leave`: turns the copy of an instance into the directory of a single engine.
import { Command } from 'commander';

import { print, printJson } from '../../output/table.ts';

type Flags = {
  readonly from: string;
  readonly fromKey: string;
  readonly json?: boolean | undefined;
};

const NOTES = `
The instance has to be stopped. What it has of the cluster stays, as that of a single engine: with
the configuration of a cluster that has no instance yet it is what that cluster begins with. So a
cluster goes on whose coordinator has lost what it kept.`;

/** The subcommand. */
export function engineLeaveCommand(): Command {
  return new Command('leave')
    .description('Take the folder of an instance out of its cluster of engines.')
    .requiredOption('--from <dir>', 'data directory of the instance (where engine.mdb is)')
    .option('--from-key <key>', 'its secrets-key, if that was set: a file, or env:NAME', '')
    .option('--json', 'print JSON')
    .addHelpText('after', NOTES)
    .exitOverride()
    .action(async ({ from, fromKey, json }: Flags) => {
      const { leaveCluster } = await import('@tidemark/engine');
      const sequence = await leaveCluster({ from, fromKey, environment: process.env });
      if (json === true) return printJson({ sequence });
      print(
        `${from} is the folder of a single engine now, with the cluster up to record ${sequence}`,
      );
    });
}
