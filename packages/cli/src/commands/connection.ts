// Credentials and addresses of all commands that talk to a running service: options, the address,
// the environment.
import { TsdbClient } from '@tidemark/client';
import type { Command } from 'commander';

type Environment = Readonly<Record<string, string | undefined>>;

export type CredentialFlags = {
  readonly token?: string | undefined;
  /** `name` or `name:password`. */
  readonly user?: string | undefined;
};

/** A token, or user and password; empty if the address contains them or there are none. */
export type Credentials = {
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
};

const DEFAULT_TSDB_URL = 'http://127.0.0.1:8086';

/** Adds `--token` and `--user`, the options of every command that talks to a service. */
export function withCredentialOptions(command: Command): Command {
  return command
    .option('--token <text>', 'API token; better in TIDEMARK_TOKEN')
    .option(
      '--user <name[:password]>',
      'user; better TIDEMARK_USERNAME and TIDEMARK_PASSWORD (or INFLUX_USERNAME, INFLUX_PASSWORD)',
    );
}

/**
 * The credentials to send, from the first of these that is set: `--token`, `--user`, the address,
 * TIDEMARK_TOKEN, TIDEMARK_USERNAME with TIDEMARK_PASSWORD, INFLUX_USERNAME with INFLUX_PASSWORD.
 */
export function credentialsOf(
  { token = '', user = '' }: CredentialFlags,
  url: string,
  environment: Environment,
): Credentials {
  const of = (name: string): string => environment[name] ?? '';
  const passwords = [of('TIDEMARK_PASSWORD'), of('INFLUX_PASSWORD')];
  if (token !== '') return { token };
  if (user !== '') {
    const [, username = '', password] = /^([^:]*)(?::(.*))?$/s.exec(user) ?? [];
    return { username, password: password ?? passwords.find((each) => each !== '') ?? '' };
  }
  if (/^(?:[a-z]+:\/\/)?[^/@]+@/i.test(url)) return {};
  if (of('TIDEMARK_TOKEN') !== '') return { token: of('TIDEMARK_TOKEN') };
  for (const [i, prefix] of ['TIDEMARK', 'INFLUX'].entries()) {
    const username = of(`${prefix}_USERNAME`);
    if (username !== '') return { username, password: passwords[i] ?? '' };
  }
  return {};
}

/** The default address of the database. */
export const tsdbUrl = (environment: Environment): string =>
  environment['TIDEMARK_TSDB_URL'] ?? DEFAULT_TSDB_URL;

/** The option `--url` of commands that talk to a running database, with `--token` and `--user`. */
export function withTsdbOptions(command: Command): Command {
  const url = '--url <url>';
  const described = `the running database (env: TIDEMARK_TSDB_URL; default ${DEFAULT_TSDB_URL})`;
  return withCredentialOptions(command.option(url, described));
}

/** A client of the database for these options. */
export function tsdbClient(
  flags: CredentialFlags & { readonly url?: string | undefined },
  timeoutMs?: number,
): TsdbClient {
  const url = flags.url ?? tsdbUrl(process.env);
  return new TsdbClient({ url, timeoutMs, ...credentialsOf(flags, url, process.env) });
}
