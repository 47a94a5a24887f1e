// `tidemark up`: both services and the web UI in one process, wired together.
import { randomBytes } from 'node:crypto';

import { parseBind } from '@tidemark/process';
import type { Command } from 'commander';

import { loadConfig } from '../config/config-files.ts';
import type { LoadedConfig } from '../config/config-files.ts';
import { withShortcuts } from '../config/flags.ts';
import { startUiServer } from '../ui-server.ts';
import {
  CLICKHOUSE_URLS,
  engineSink,
  loggingLevel,
  requireSafeBind,
  serve,
  serviceCommand,
} from './serve.ts';
import type { ReadyUrls, ServeContext, ServeOptions } from './serve.ts';

type Options = ServeOptions & {
  readonly bind?: string | undefined;
  readonly tsdbBind?: string | undefined;
  readonly engineBind?: string | undefined;
  readonly uiBind?: string | undefined;
  readonly storageEngine?: string | undefined;
  readonly clickhouseUrls?: string | undefined;
  readonly loggingFormat?: string | undefined;
  readonly loggingFile?: string | undefined;
  readonly skipConfigOverrides?: boolean | undefined;
};

/** The command. `flags` are the generated flags that were given. */
export function upCommand(
  flags: ReadonlyMap<string, string>,
  finish: (status: number) => void,
): Command {
  return serviceCommand('up', 'Run database, task engine and web UI on one data directory.')
    .option('--tsdb-bind <host:port>', 'address of the database (default 127.0.0.1:8086)')
    .option('--bind <host:port>', 'the same, as `tidemark tsdb` calls it')
    .option('--engine-bind <host:port>', 'address of the task engine (default 127.0.0.1:9092)')
    .option('--ui-bind <host:port>', 'address of the web UI (default 127.0.0.1:8888)')
    .option('--storage-engine <engine>', 'embedded or clickhouse (default embedded)')
    .option('--clickhouse-urls <urls>', CLICKHOUSE_URLS)
    .option('--logging-format <format>', 'how lines of the logs look: auto, text, logfmt or json')
    .option('--logging-file <file>', 'where the logs go: STDERR, STDOUT or a path')
    .option(
      '--skip-config-overrides',
      'start the engine without the configuration that was changed over HTTP',
    )
    .action(async (options: Options) => {
      finish(
        await serve({
          load: () =>
            loadConfig('up', {
              file: options.config,
              profile: options.profile,
              environment: process.env,
              flags: withShortcuts(flags, shortcuts(options)),
            }),
          logging: (config) => config.tsdb.logging,
          start: (config, context) => startAll(config, context, options.insecureNoAuth === true),
        }),
      );
    });
}

/** Starts the services in order of their dependencies. */
async function startAll(
  config: LoadedConfig,
  { logger, clock, shutdown }: ServeContext,
  isInsecureAllowed: boolean,
): Promise<ReadyUrls> {
  // The page leads to both services.
  const unauthenticated = [
    ...(config.tsdb.http.authEnabled ? [] : ['database.http.auth-enabled']),
    ...(config.engine.http.authEnabled ? [] : ['engine.http.auth-enabled']),
  ];
  requireSafeBind(config.ui.ui.bindAddress, 'ui.bind-address', {
    unauthenticated,
    isInsecureAllowed,
  });
  const pageKey = randomBytes(32).toString('base64url');
  const { startTsdb } = await import('@tidemark/tsdb');
  const tsdb = await startTsdb(config.tsdb, {
    log: logger('tsdb', config.tsdb.logging),
    clock,
    warmUp: {},
    pageKey,
  });
  shutdown.opened('tsdb', tsdb);
  const { startEngine } = await import('@tidemark/engine');
  const engine = await startEngine(config.engine, {
    log: logger('engine', engineSink(config.engine.logging)),
    clock,
    environment: process.env,
    defaultTsdbUrl: tsdb.url,
    pageKey,
    settingsUnder: 'engine',
  });
  shutdown.opened('engine', engine);
  const { UI_DIRECTORY } = await import('@tidemark/ui');
  const ui = await startUiServer({
    ...config.ui.ui,
    isOpen: unauthenticated.length > 0,
    bind: {
      ...parseBind(config.ui.ui.bindAddress, 'ui.bind-address'),
      setting: 'ui.bind-address (--ui-bind)',
    },
    nowMs: () => clock.monotonicMs(),
    directory: UI_DIRECTORY,
    tsdbUrl: tsdb.url,
    engineUrl: engine.url,
    pageKey,
  });
  shutdown.opened('ui', ui);
  return [
    ['tsdb', tsdb.url],
    ['engine', engine.url],
    ['ui', ui.url],
  ];
}

/** Options of the command as generated flags. */
function shortcuts(options: Options): Readonly<Record<string, string | boolean | undefined>> {
  return {
    'database-data-dir': options.dataDir,
    'engine-data_dir': options.dataDir,
    'database-http-bind-address': options.bind ?? options.tsdbBind,
    'engine-http-bind-address': options.engineBind,
    'ui-bind-address': options.uiBind,
    'database-storage-engine': options.storageEngine,
    'database-storage-clickhouse-urls': options.clickhouseUrls,
    'database-http-insecure-no-auth': options.insecureNoAuth,
    'engine-http-insecure-no-auth': options.insecureNoAuth,
    'engine-skip-config-overrides': options.skipConfigOverrides,
    ...both('logging-level', loggingLevel(options)),
    ...both('logging-format', options.loggingFormat),
    ...both('logging-file', options.loggingFile),
  };
}

/** A flag that both services have. */
const both = (name: string, value: string | undefined) => ({
  [`database-${name}`]: value,
  [`engine-${name}`]: value,
});
