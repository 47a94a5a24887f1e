// `tidemark tsdb setup`: creates the first admin user of a database with authentication on.
import { TsdbClient } from '@tidemark/client';
import { Command } from 'commander';

import { UsageError } from '../exit.ts';
import { ask } from './ask.ts';
import { tsdbUrl } from './connection.ts';
import { print, printJson } from '../output/table.ts';

/** The properties of the first user. */
export type UserFlags = {
  readonly url: string;
  readonly username?: string;
  readonly json?: boolean;
};

/**
 * The subcommand. The password is never an argument: others could see it in the list of processes.
 */
export function tsdbSetupCommand(): Command {
  return new Command('setup')
    .description(
      'Create the first admin user. Asks on a terminal; elsewhere the password comes from TIDEMARK_PASSWORD or standard input.',
    )
    .option('--url <url>', 'the running database (env: TIDEMARK_TSDB_URL)', tsdbUrl(process.env))
    .option('--username <name>', 'name of the user')
    .option('--json', 'print JSON')
    .exitOverride()
    .action(createFirstUser);
}

/** Asks for a missing name or password, and creates the user. */
export async function createFirstUser(flags: UserFlags): Promise<void> {
  const { username, password } = await readCredentials(flags.username);
  const client = new TsdbClient({ url: flags.url });
  await client.rows(
    `CREATE USER "${escape(username, '"')}" WITH PASSWORD '${escape(password, "'")}' WITH ALL PRIVILEGES`,
  );
  if (flags.json === true) printJson({ username, admin: true });
  else print(`created the admin user ${username}`);
}

const escape = (text: string, quote: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n');

async function readCredentials(
  given: string | undefined,
): Promise<{ readonly username: string; readonly password: string }> {
  const fromEnvironment = process.env['TIDEMARK_PASSWORD'];
  if (process.stdin.isTTY && (given === undefined || fromEnvironment === undefined)) {
    const username = given ?? (await ask('username: ', false));
    const password = fromEnvironment ?? (await askTwice());
    return checked(username, password);
  }
  if (given === undefined) throw new UsageError('give --username; standard input is no terminal');
  return checked(given, fromEnvironment ?? (await firstLineOfInput()));
}

function checked(username: string, password: string): { username: string; password: string } {
  if (username === '') throw new UsageError('the user name is empty');
  if (password === '') {
    throw new UsageError(
      'the password is empty; set TIDEMARK_PASSWORD or write it to standard input',
    );
  }
  return { username, password };
}

async function askTwice(): Promise<string> {
  const password = await ask('password: ', true);
  if ((await ask('again: ', true)) !== password) throw new UsageError('the passwords differ');
  return password;
}

async function firstLineOfInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += String(chunk);
  return text.split(/\r?\n/)[0] ?? '';
}
