// `tidemark engine`: the task service alone.
import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { loadConfig } from '../config/config-files.ts';
import { withShortcuts } from '../config/flags.ts';
import { startPage } from './page.ts';
import { engineSink, loggingLevel, serve, serviceCommand } from './serve.ts';
import type { ServeOptions } from './serve.ts';

type Options = ServeOptions & {
  readonly bind?: string | undefined;
  readonly uiBind?: string | undefined;
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
    .option('--ui-bind <host:port>', 'address of the web application; by default it is not served')
    .option(
      '--tsdb-url <url>',
      'database that tasks read from and write to, when the configuration names none',
    )
    .option('--skip-config-overrides', 'start without the configuration that was changed over HTTP')
    .action(async (options: Options) => {
      finish(
        await serve({
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
            const pageKey = randomBytes(32).toString('base64url');
            const service = await startEngine(config, {
              log: logger('engine', engineSink(config.logging)),
              clock,
              environment: process.env,
              defaultTsdbUrl: options.tsdbUrl ?? process.env['TIDEMARK_TSDB_URL'],
              pageKey,
            });
            shutdown.opened('engine', service);
            if (options.uiBind === undefined) return [['engine', service.url]];
            const page = await startPage({
              bindAddress: options.uiBind,
              unauthenticated: config.http.authEnabled ? [] : ['http.auth-enabled'],
              isInsecureAllowed: options.insecureNoAuth === true,
              clock,
              pageKey,
              engineUrl: service.url,
            });
            shutdown.opened('ui', page);
            return [
              ['engine', service.url],
              ['ui', page.url],
            ];
          },
        }),
      );
    });
}
