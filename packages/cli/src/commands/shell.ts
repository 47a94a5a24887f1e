// `tidemark shell`: statements from the terminal, from --execute, from standard input, or a file to
// import.
import { TIDEMARK_VERSION } from '@tidemark/core';
import { Command } from 'commander';

import { ExitStatus, UsageError } from '../exit.ts';
import { credentialsOf, tsdbUrl, withCredentialOptions } from './connection.ts';
import type { CredentialFlags } from './connection.ts';
import { coloursFor } from '../output/colour.ts';
import { print } from '../output/table.ts';
import { FORMATS } from '../shell/format.ts';
import {
  describeErrors,
  importFile,
  isComplete,
  NOT_NOTIFIED,
} from '../import-file/import-file.ts';
import { isUnfinished, runInteractive } from '../shell/interactive.ts';
import { oneOf, PRECISIONS, Session } from '../shell/session.ts';

type Flags = {
  readonly host?: string;
  readonly port?: string;
  readonly url?: string;
  readonly ssl?: boolean;
  readonly unsafeSsl?: boolean;
  readonly socket: string;
  readonly database: string;
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
  readonly user?: string;
  readonly execute?: string;
  readonly format: string;
  readonly precision: string;
  readonly consistency: string;
  readonly pretty?: boolean;
  readonly timing?: boolean;
  readonly spark?: boolean;
  readonly import?: boolean;
  readonly path?: string;
  readonly compressed?: boolean;
  readonly notify?: boolean;
  readonly pps: string;
};

/** Single-dash spellings of the older shell, rewritten before the command line is parsed. */
export function rewriteOldSpellings(argv: readonly string[]): readonly string[] {
  return argv.map((argument) => {
    if (/^--?unsafeSsl\b/.test(argument)) return argument.replace(/^--?unsafeSsl/, '--unsafe-ssl');
    return /^-[a-z]{2,}/i.test(argument) ? `-${argument}` : argument;
  });
}

/** The command. */
export function shellCommand(finish: (status: number) => void): Command {
  return withCredentialOptions(new Command('shell'))
    .description('Query a database from the terminal.')
    .version(TIDEMARK_VERSION, '--version', 'print the version of the shell')
    .option('--host <name>', 'host of the database (default 127.0.0.1)')
    .option('--port <number>', 'its port (default 8086)')
    .option(
      '--url <url>',
      'its address in one piece; wins over --host and --port (env: TIDEMARK_TSDB_URL)',
    )
    .option('--ssl', 'use https')
    .option('--unsafe-ssl', 'use https and do not verify the certificate')
    .option('--socket <path>', 'unix socket of the database; wins over all of these', '')
    .option('--database <name>', 'database of the statements', '')
    .option('--username <name>', 'as --user, for older scripts')
    .option('--password <text>', 'the password that belongs to --username')
    .option('--execute <statements>', 'run statements and leave')
    .option('--format <format>', 'column, csv or json', 'column')
    .option('--precision <unit>', 'rfc3339, h, m, s, ms, u or ns', 'ns')
    .option('--consistency <level>', 'accepted for older scripts', '')
    .option('--pretty', 'indent JSON')
    .option('--timing', 'say how long a statement took')
    .option('--spark', 'a row per series, each field drawn as a line')
    .option('--import', 'import a file of statements and line protocol')
    .option('--path <file>', 'the file to import')
    .option('--compressed', 'accepted for older scripts: gzip is recognised')
    .option('--notify', 'subscriptions and tasks get imported points, too')
    .option('--pps <number>', 'points per second of an import; 0 is no limit', '0')
    .addHelpText(
      'after',
      '\nThe single-dash spellings of the older shell (-execute, -database …) are understood, too.',
    )
    .action(async (flags: Flags) => {
      finish(await runShell(flags));
    });
}

async function runShell(flags: Flags): Promise<number> {
  const isSecure = flags.ssl === true || flags.unsafeSsl === true;
  // The platform's `fetch` has no other switch; this process talks to nobody else.
  if (flags.unsafeSsl === true) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const url = urlOf(flags, isSecure);
  const {
    username = '',
    password = '',
    token = '',
  } = credentialsOf(userFlags(flags), url, process.env);
  const session = new Session(
    {
      url,
      socket: flags.socket,
      username,
      password,
      token,
      database: flags.database,
      retentionPolicy: '',
      format: oneOf('format', FORMATS, flags.format),
      precision: oneOf('precision', PRECISIONS, flags.precision),
      consistency: flags.consistency,
      isPretty: flags.pretty === true,
      hasTiming: flags.timing === true,
      hasSparklines: flags.spark === true,
      hasPager: true,
    },
    {
      width: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
      colours: coloursFor(process.stdout, process.env),
    },
  );
  if (flags.import === true) return runImport(session, flags);
  if (flags.execute !== undefined) return runOnce(session, flags.execute);
  if (process.stdin.isTTY) return runInteractive(session);
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += String(chunk);
  let statement = '';
  for (const line of text.split('\n')) {
    statement = statement === '' ? line : `${statement}\n${line}`;
    // As on a terminal: an unfinished statement continues, and an empty line ends it.
    if (line.trim() !== '' && isUnfinished(statement)) continue;
    const status = await runOnce(session, statement);
    if (status !== ExitStatus.Ok) return status;
    statement = '';
  }
  return statement === '' ? ExitStatus.Ok : runOnce(session, statement);
}

function urlOf({ url, host, port }: Flags, isSecure: boolean): string {
  if (url !== undefined) return url;
  const isDefault = host === undefined && port === undefined && !isSecure;
  if (isDefault) return tsdbUrl(process.env);
  return `${isSecure ? 'https' : 'http'}://${host ?? '127.0.0.1'}:${port ?? '8086'}`;
}

/** `--username` with `--password` means `--user`. */
function userFlags({ token, user, username, password }: Flags): CredentialFlags {
  if (username === undefined || user !== undefined) return { token, user };
  return { token, user: password === undefined ? username : `${username}:${password}` };
}

async function runOnce(session: Session, text: string): Promise<number> {
  const outcome = await session.run(text);
  if (outcome.kind === 'error') {
    process.stderr.write(`${coloursFor(process.stderr, process.env).error(outcome.text)}\n`);
    return ExitStatus.Failed;
  }
  if (outcome.kind === 'output' && outcome.text !== '') print(outcome.text);
  return ExitStatus.Ok;
}

async function runImport(session: Session, flags: Flags): Promise<number> {
  if (flags.path === undefined) throw new UsageError('--import needs --path FILE');
  const result = await importFile(session.client(), {
    path: flags.path,
    precision: session.settings.precision === 'rfc3339' ? 'ns' : session.settings.precision,
    consistency: flags.consistency,
    database: flags.database,
    pointsPerSecond: Number(flags.pps) || 0,
    notify: flags.notify === true,
  });
  for (const error of describeErrors(result)) process.stderr.write(`${error}\n`);
  if (flags.notify !== true) process.stderr.write(`${NOT_NOTIFIED}\n`);
  print(
    `Processed ${result.commands} commands\nProcessed ${result.inserts} inserts\nFailed ${result.failedInserts} inserts`,
  );
  return isComplete(result) ? ExitStatus.Ok : ExitStatus.Failed;
}
