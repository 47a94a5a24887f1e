// What all commands that talk to a running engine share.
import { readFileSync } from 'node:fs';

import { EngineClient } from '@tidemark/client';
import type { Dbrp, Task, TaskVar } from '@tidemark/client';
import { NotFound } from '@tidemark/core';
import { Command } from 'commander';

import { UsageError } from '../../exit.ts';

export type ClientFlags = { readonly url: string; readonly json?: boolean | undefined };

const DEFAULT_URL = 'http://127.0.0.1:9092';

/** Adds `--url` and `--json` to a command. */
export function withClientOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'address of the engine',
      process.env['TIDEMARK_ENGINE_URL'] ?? process.env['KAPACITOR_URL'] ?? DEFAULT_URL,
    )
    .option('--json', 'print JSON');
}

/** A new command of a group, with the options of a client. */
export function clientCommand(name: string, description: string): Command {
  return withClientOptions(new Command(name).description(description)).exitOverride();
}

/** The client that a command's options name. */
export function engineClient(flags: ClientFlags): EngineClient {
  return new EngineClient({ url: flags.url });
}

/** A file's text; `-` is standard input. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** A file's JSON document. */
export function readJson(file: string): unknown {
  const text = readText(file);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(
      `${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
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

/** The variables of a JSON file: a map of `{type, value}`. */
export function readVars(file: string): Readonly<Record<string, TaskVar>> {
  const document = readJson(file);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new UsageError(`${file} must hold an object that maps names to {"type", "value"}`);
  }
  return document as Readonly<Record<string, TaskVar>>;
}

/** Collects a repeatable option. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

/** Everything an async iterable gives. */
export async function toArray<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Runs one action for several arguments; the first failure ends it. */
export async function forEachId(
  ids: readonly string[],
  expand: (pattern: string) => Promise<readonly string[]>,
  act: (id: string) => Promise<void>,
): Promise<number> {
  let count = 0;
  for (const id of ids) {
    const matching = /[*?[]/.test(id) ? await expand(id) : [id];
    for (const one of matching) {
      await act(one);
      count++;
    }
  }
  return count;
}

/** The task, or `undefined` when there is none. */
export async function findTask(client: EngineClient, id: string): Promise<Task | undefined> {
  try {
    return await client.task(id);
  } catch (error) {
    // Absent is an answer here.
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
