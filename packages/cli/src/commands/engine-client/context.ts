// Shared by all commands that talk to a running engine.
import { readFileSync } from 'node:fs';

import { EngineClient } from '@tidemark/client';
import type { Dbrp, ScriptDiagnostic, Task, TaskVar } from '@tidemark/client';
import { messageOf, NotFound } from '@tidemark/core';
import { Command, InvalidArgumentError, Option } from 'commander';

import { credentialsOf, withCredentialOptions } from '../connection.ts';
import type { CredentialFlags, Credentials } from '../connection.ts';
import { describeFindings, UsageError } from '../../exit.ts';

export type ClientFlags = {
  readonly url: string;
  readonly json?: boolean | undefined;
  readonly skipVerify?: boolean | undefined;
} & CredentialFlags;

/** Sets the exit status. */
export type Finish = (status: number) => void;

const DEFAULT_URL = 'http://127.0.0.1:9092';

/** Levels of events, as the engine names them. */
const ALERT_LEVELS = ['OK', 'INFO', 'WARNING', 'CRITICAL'];

/** Creates a command of a group with the common options of engine clients. */
export function clientCommand(name: string, description: string): Command {
  const { env } = process;
  return withCredentialOptions(new Command(name))
    .description(description)
    .addOption(
      new Option(
        '--url <url>',
        'address of the engine, http://user:password@host:port if it requires that (env: TIDEMARK_ENGINE_URL)',
      ).default(
        env['TIDEMARK_ENGINE_URL'] ?? env['KAPACITOR_URL'] ?? DEFAULT_URL,
        `"${DEFAULT_URL}"`,
      ),
    )
    .option(
      '--skip-verify',
      'do not verify the certificate of an https address (env: TIDEMARK_UNSAFE_SSL=true)',
    )
    .option('--json', 'print JSON')
    .exitOverride();
}

/** The client for a command's options. */
export function engineClient(flags: ClientFlags): EngineClient {
  const url = addressOf(flags);
  return new EngineClient({ url, ...engineCredentials(flags, url) });
}

/**
 * The address in a command's options, with user and password. Certificates are verified according
 * to the options.
 */
export function addressOf(flags: ClientFlags): string {
  const { env } = process;
  const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1';
  // The platform's `fetch` has no other switch; this process talks to nobody else.
  if (
    flags.skipVerify === true ||
    isTrue(env['TIDEMARK_UNSAFE_SSL'] ?? env['KAPACITOR_UNSAFE_SSL'])
  ) {
    env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  }
  const url = /^[a-z]+:\/\//i.test(flags.url) ? flags.url : `http://${flags.url}`;
  if (!URL.canParse(url)) throw new UsageError(`--url: not a URL: ${flags.url}`);
  return url;
}

/** As for the database; a token for the engine alone may be in TIDEMARK_ENGINE_TOKEN. */
export function engineCredentials(flags: ClientFlags, url: string): Credentials {
  const { env } = process;
  return credentialsOf(flags, url, {
    ...env,
    TIDEMARK_TOKEN: env['TIDEMARK_ENGINE_TOKEN'] ?? env['TIDEMARK_TOKEN'],
  });
}

/** An option for a level of events, in either case. */
export function minLevelOption(description: string): Option {
  return new Option('--min-level <level>', `${description}: ${ALERT_LEVELS.join(', ')}`).argParser(
    (text) => {
      const level = text.toUpperCase();
      if (ALERT_LEVELS.includes(level)) return level;
      throw new InvalidArgumentError(`Levels are ${ALERT_LEVELS.join(', ')}.`);
    },
  );
}

/** The option for the type of a task. */
export function typeOption(description: string): Option {
  return new Option('--type <type>', description).choices(['stream', 'batch']);
}

/** The option for the minimum level of log lines. */
export function logLevelOption(): Option {
  return new Option('--level <level>', 'least important level').choices(LOG_LEVELS);
}

/** Levels of the log, the least important first. */
export const LOG_LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'];

/** A file's text; `-` is standard input. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`);
  }
}

/** A file's JSON or YAML object. Integers that a number cannot hold are `bigint`. */
export async function readDocument(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = readText(file);
  const { parseYaml } = await import('@tidemark/engine/yaml');
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    throw new UsageError(`${file} is neither JSON nor YAML: ${messageOf(error)}`);
  }
  if (typeof document === 'object' && document !== null && !Array.isArray(document))
    return document as Readonly<Record<string, unknown>>;
  throw new UsageError(`${file} must hold an object`);
}

/** `db.rp` or `"db"."rp"`, quotes optional. */
export function parseDbrp(text: string): Dbrp {
  const match = /^(?:"((?:[^"\\]|\\.)*)"|([^."]+))\.(?:"((?:[^"\\]|\\.)*)"|(.+))$/.exec(text);
  const db = match?.[1] ?? match?.[2];
  const rp = match?.[3] ?? match?.[4];
  if (db === undefined || rp === undefined) {
    throw new UsageError(
      `${text} is not a database and retention policy; write db.rp or "db"."rp"`,
    );
  }
  const unescape = (part: string): string => part.replace(/\\(.)/g, '$1');
  return { db: unescape(db), rp: unescape(rp) };
}

/** `["db"."rp"]`, as lists show it. */
export function formatDbrps(dbrps: readonly Dbrp[]): string {
  return `[${dbrps.map(({ db, rp }) => `"${db}"."${rp}"`).join(' ')}]`;
}

/** The variables of a file: names with `{type, value}`. The engine reports errors in them. */
export async function readVars(file: string): Promise<Readonly<Record<string, TaskVar>>> {
  return (await readDocument(file)) as Readonly<Record<string, TaskVar>>;
}

/** Collects a repeatable option. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

/** Collects all items of an async iterable. */
export async function toArray<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Whether an argument is a pattern of ids. */
export function isGlob(text: string): boolean {
  return /[*?[]/.test(text);
}

/** The task, or `undefined` when there is none. */
export async function findTask(client: EngineClient, id: string): Promise<Task | undefined> {
  try {
    return await client.task(id);
  } catch (error) {
    // Absence is a valid answer here.
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/**
 * Reports what keeps a task from starting, or makes it useless: defining it succeeds all the same.
 */
export function warnOfFindings({ id, diagnostics = [], warnings = [] }: Task): void {
  const [first] = diagnostics;
  if (first !== undefined) {
    const text = `${first.message}${describeFindings(diagnostics, first.message)}`;
    process.stderr.write(`tidemark: task ${id} cannot be enabled: ${text}\n`);
  }
  for (const { what, text } of describeWarnings(warnings)) {
    process.stderr.write(`tidemark: task ${id} ${what}:${text}\n`);
  }
}

/** Warnings about a task that starts but is useless, one for each kind of problem. */
export function describeWarnings(
  warnings: readonly ScriptDiagnostic[],
): readonly { readonly what: string; readonly text: string }[] {
  const unreached = warnings.filter(({ code }) => code === 'TICK_UNREACHED');
  const failing = warnings.filter((warning) => !unreached.includes(warning));
  return [
    { what: 'fails on every point', text: describeFindings(failing, '') },
    { what: 'cannot reach what it needs', text: describeFindings(unreached, '') },
  ].filter(({ text }) => text !== '');
}
