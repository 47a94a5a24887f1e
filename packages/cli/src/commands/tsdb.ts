// `tidemark tsdb`: the database service alone.
import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { loadConfig } from '../config/config-files.ts';
import { withShortcuts } from '../config/flags.ts';
import { startPage } from './page.ts';
import { CLICKHOUSE_URLS, loggingLevel, serve, serviceCommand } from './serve.ts';
import type { ServeOptions } from './serve.ts';

type Options = ServeOptions & {
  readonly bind?: string | undefined;
  readonly uiBind?: string | undefined;
  readonly clickhouseUrls?: string | undefined;
};

/** The command. `flags` are the generated flags that were given. */
export function tsdbCommand(
  flags: ReadonlyMap<string, string>,
  finish: (status: number) => void,
): Command {
  return serviceCommand('tsdb', 'Run the database service.')
    .option('--bind <host:port>', 'address of the HTTP API (default 127.0.0.1:8086)')
    .option('--ui-bind <host:port>', 'address of the web application; by default it is not served')
    .option('--clickhouse-urls <urls>', CLICKHOUSE_URLS)
    .action(async (options: Options) => {
      finish(
        await serve({
          load: () =>
            loadConfig('tsdb', {
              file: options.config,
              profile: options.profile,
              environment: process.env,
              flags: withShortcuts(flags, {
                'data-dir': options.dataDir,
                'http-bind-address': options.bind,
                'storage-clickhouse-urls': options.clickhouseUrls,
                'http-insecure-no-auth': options.insecureNoAuth,
                'logging-level': loggingLevel(options),
              }),
            }),
          logging: ({ tsdb }) => tsdb.logging,
          start: async ({ tsdb: config }, { logger, clock, shutdown }) => {
            const { startTsdb } = await import('@tidemark/tsdb');
            const pageKey = randomBytes(32).toString('base64url');
            const service = await startTsdb(config, {
              log: logger('tsdb', config.logging),
              clock,
              warmUp: {},
              pageKey,
            });
            shutdown.opened('tsdb', service);
            if (options.uiBind === undefined) return [['tsdb', service.url]];
            const page = await startPage({
              bindAddress: options.uiBind,
              unauthenticated: config.http.authEnabled ? [] : ['http.auth-enabled'],
              isInsecureAllowed: options.insecureNoAuth === true,
              clock,
              pageKey,
              tsdbUrl: service.url,
            });
            shutdown.opened('ui', page);
            return [
              ['tsdb', service.url],
              ['ui', page.url],
            ];
          },
        }),
      );
    });
}
