// `tidemark engine`: the task service alone.
import type { Command } from 'commander';

import { loadConfig } from '../config/config-files.ts';
import { withShortcuts } from '../config/flags.ts';
import { engineSink, loggingLevel, serve, serviceCommand } from './serve.ts';
import type { ServeOptions } from './serve.ts';

type Options = ServeOptions & {
  readonly bind?: string | undefined;
  readonly tsdbUrl?: string | undefined;
  readonly skipConfigOverrides?: boolean | undefined;
};

/** The command. `flags` are the generated flags that were given. */
export function engineCommand(
  flags: ReadonlyMap<string, string>,
  finish: (status: number) => void,
): Command {
  return serviceCommand('engine', 'Run the task engine.')
    .option('--bind <host:port>', 'address of the HTTP API (default 127.0.0.1:9092)')
    .option(
      '--tsdb-url <url>',
      'database that tasks read from and write to, when the configuration names none',
    )
    .option('--skip-config-overrides', 'start without the configuration that was changed over HTTP')
    .action(async (options: Options) => {
      finish(
        await serve(options, {
          load: () =>
            loadConfig('engine', {
              file: options.config,
              environment: process.env,
              flags: withShortcuts(flags, {
                data_dir: options.dataDir,
                'http-bind-address': options.bind,
                'http-insecure-no-auth': options.insecureNoAuth,
                'skip-config-overrides': options.skipConfigOverrides,
                'logging-level': loggingLevel(options),
              }),
            }),
          logging: ({ engine }) => engine.logging,
          start: async ({ engine: config }, { logger, clock, shutdown }) => {
            const { startEngine } = await import('@tidemark/engine');
            const service = await startEngine(config, {
              log: logger('engine', engineSink(config.logging)),
              clock,
              environment: process.env,
              defaultTsdbUrl: options.tsdbUrl ?? process.env['TIDEMARK_TSDB_URL'],
            });
            shutdown.opened(
              'engine',
              () => service.close(),
              () => service.reload(),
            );
            return [['engine', service.url]];
          },
        }),
      );
    });
}
