// `tidemark engine join`: moves the data of a single engine into a cluster of engines.
import { systemClock } from '@tidemark/core';
import { Command } from 'commander';

import { loadConfig } from '../../config/config-files.ts';
import { print, printJson } from '../../output/table.ts';

type Flags = {
  readonly from: string;
  readonly fromKey: string;
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
};

const NOTES = `
The single engine has to be stopped. Templates, tasks with their states and versions, topics,
handlers, waiting deliveries, dead letters, overrides, dashboards, recordings and replays come into
the cluster, all or nothing: when the cluster has something else of the same name, nothing changes
and the names are told. The leader pauses for a moment. Afterwards the folder is one of an instance:
start it there with the configuration of the cluster, so that its recordings can be replayed. The
file as it was stays beside it, as engine.mdb.before-join.`;

/** The subcommand. */
export function engineJoinCommand(): Command {
  return new Command('join')
    .description('Move the folder of a single engine into a cluster of engines.')
    .requiredOption('--from <dir>', 'data directory of the single engine (where engine.mdb is)')
    .option('--from-key <key>', 'its secrets-key, if that was set: a file, or env:NAME', '')
    .option('--config <file>', 'configuration of an instance of the cluster')
    .option('--json', 'print JSON')
    .addHelpText('after', NOTES)
    .exitOverride()
    .action(async ({ from, fromKey, config: file, json }: Flags) => {
      const environment = process.env;
      const { engine: config } = await loadConfig('engine', {
        file,
        environment,
        flags: new Map(),
      });
      const { joinCluster } = await import('@tidemark/engine');
      const { counts, subscriptions } = await joinCluster({
        config,
        from,
        fromKey,
        environment,
        clock: systemClock(),
        onProgress: (message) => void process.stderr.write(`${message}\n`),
      });
      if (json === true) return printJson({ counts, subscriptions });
      const moved = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
      print(`moved: ${moved.length === 0 ? 'nothing' : moved.join(', ')}`);
      print(
        `subscriptions of the single engine are not used any more: drop those whose names begin with ${subscriptions.join(' or ')}`,
      );
    });
}
