// Shared by `up`, `tsdb` and `engine`: options, start in order, the ready line, stop on a signal.
import { InvalidRequest, systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { collectWhenIdle, endEarlyThreads, isLoopback, parseBind } from '@tidemark/process';
import type { LoggingConfig } from '@tidemark/settings';
import { Command, Option } from 'commander';
import type { Logger } from 'pino';

import { PROFILES } from '../config/profiles.ts';
import type { Profile } from '../config/profiles.ts';
import { describeError, ExitStatus, exitStatusOf, UsageError } from '../exit.ts';
import { LOG_LEVELS, Loggers } from '../logger.ts';
import { closeInTime, exitAtOnce, Shutdown, stopOnSignal } from '../shutdown.ts';

export type ServeOptions = {
  readonly config?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly insecureNoAuth?: boolean | undefined;
  readonly profile?: Profile | undefined;
};

/** Description of the option. */
export const CLICKHOUSE_URLS =
  'replicas of all shards, with commas, for --storage-engine clickhouse';

/** The default data directory. */
export const DEFAULT_DATA_DIRECTORY = './data';

/** The argument of a command's start function, with which it registers what it opened. */
export type ServeContext = {
  /** The logger of a service according to its section `logging`. */
  readonly logger: (service: string, logging: LoggingConfig) => Logger;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
};

/** How a command starts its services. */
export type Services<C> = {
  readonly load: () => Promise<C>;
  /** The log of the process itself. */
  readonly logging: (config: C) => LoggingConfig;
  readonly start: (config: C, context: ServeContext) => Promise<ReadyUrls>;
};

/** Names and URLs for the ready line, in order. */
export type ReadyUrls = readonly (readonly [name: 'tsdb' | 'engine' | 'ui', url: string])[];

/** A command with the options common to all services. */
export function serviceCommand(name: string, description: string): Command {
  return (
    new Command(name)
      .description(description)
      .option('--config <file>', 'TOML configuration (see `tidemark config default`)')
      // Without a default, which would override the configuration file.
      .addOption(
        new Option(
          '--data-dir <dir>',
          `folder of all data; created when missing (default ${DEFAULT_DATA_DIRECTORY})`,
        ).env('TIDEMARK_DATA_DIR'),
      )
      .addOption(
        new Option('--log-level <level>', 'how much to log; wins over logging.level')
          .choices([...LOG_LEVELS])
          .env('TIDEMARK_LOG_LEVEL'),
      )
      .addOption(
        new Option('--profile <name>', 'settings that belong together; small: runs in 256 MiB')
          .choices([...PROFILES])
          .env('TIDEMARK_PROFILE'),
      )
      .option('--insecure-no-auth', 'allow other addresses than loopback without authentication')
  );
}

/** The level of `--log-level`, as the sections `logging` name it. */
export const loggingLevel = ({ logLevel }: ServeOptions): string | undefined =>
  logLevel === 'silent' ? 'off' : logLevel;

/** The engine filters by level itself, because the level can change while it runs. */
export const engineSink = (logging: LoggingConfig): LoggingConfig => ({
  ...logging,
  level: 'debug',
});

/**
 * Starts services, prints the ready line, and resolves with the exit status once a signal has
 * stopped everything.
 */
export async function serve<C>(services: Services<C>): Promise<number> {
  const config = await services.load();
  const loggers = new Loggers();
  const log = loggers.open(services.logging(config));
  const shutdown = new Shutdown(log);
  const stopped = stopOnSignal(shutdown, log);
  stopOnFault(shutdown, log);
  collectWhenIdle();
  shutdown.opened('log', {
    close: () => Promise.resolve(),
    reload: () => loggers.reopen(),
  });
  try {
    const urls = await services.start(config, {
      logger: (service, logging) => loggers.open(logging).child({ service }),
      clock: systemClock(),
      shutdown,
    });
    // Not needed where the database is elsewhere.
    endEarlyThreads();
    process.stdout.write(`ready ${urls.map(([name, url]) => `${name}=${url}`).join(' ')}\n`);
  } catch (error) {
    await shutdown.closeAll();
    process.stderr.write(`tidemark: ${describeError(error)}\n`);
    // A service that refuses to start with `InvalidRequest` has a wrong configuration.
    return error instanceof InvalidRequest ? ExitStatus.Usage : exitStatusOf(error);
  }
  return stopped;
}

/** What a service that has closed everything may still take to end. */
const END_MS = 100;

/** A bug outside of any request: log it, close what can be closed, end with a failure. */
function stopOnFault(shutdown: Shutdown, log: Logger): void {
  let isFaulty = false;
  const onFault = (error: unknown): void => {
    log.fatal({ err: error }, 'unexpected failure; stopping');
    if (isFaulty) exitAtOnce();
    isFaulty = true;
    shutdown.abandonAll();
    void closeInTime(shutdown, log).finally(() => {
      process.exitCode = ExitStatus.Failed;
      // As a command that has ended: by itself, unless something still holds it back (tidemark.js).
      setTimeout(() => process.exit(), END_MS).unref();
    });
  };
  process.on('uncaughtException', onFault);
  process.on('unhandledRejection', onFault);
}

/**
 * Refuses an address that others can reach while authentication is off in a service behind it,
 * unless the operator insists. `unauthenticated` names the settings that have to be true.
 */
export function requireSafeBind(
  bindAddress: string,
  setting: string,
  safety: { readonly unauthenticated: readonly string[]; readonly isInsecureAllowed: boolean },
): void {
  const { host } = parseBind(bindAddress, setting);
  if (isLoopback(host) || safety.unauthenticated.length === 0 || safety.isInsecureAllowed) return;
  throw new UsageError(
    `${setting} is ${bindAddress}, which others can reach, and authentication is off. Turn it on (${safety.unauthenticated.join(' = true, ')} = true), listen on 127.0.0.1, or insist with --insecure-no-auth`,
  );
}
