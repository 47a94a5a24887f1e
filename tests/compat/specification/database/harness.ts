// The harness of the tests of the database specification's sections: one server per file, and
// for each sentence, as it is written there, requests and what is answered.
import { removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { Answer, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { hashOf } from '../document.ts';
import type { Sentences } from '../document.ts';
import hashes from './sentences.json' with { type: 'json' };

const ALL: Sentences = hashes;

export const VERSION = expect.stringMatching(/^\d+\.\d+\.\d+$/);
export const SOME = expect.stringMatching(/./);
export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

let server: Tidemark;

type Options = { readonly args?: readonly string[]; readonly statements?: readonly string[] };

/** Starts the server before the tests of a file, runs its statements, and stops it after. */
export function useDatabase(options: Options = {}): void {
  beforeAll(async () => {
    server = await startTidemark({ command: 'tsdb', args: options.args ?? [] });
    for (const q of options.statements ?? ['CREATE DATABASE d']) {
      expect((await ask('POST', query(q))).status).toBe(200);
    }
  });

  afterAll(async () => {
    await server.stop();
    await removeDirectory(server.directory);
  });
}

/** Address of the server of the file. */
export const baseUrl = (): string => server.tsdb;

type Sent = {
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | undefined;
};

/** Sends a request to the server of the file. */
export function ask(
  method: string,
  path: string,
  { headers = {}, body }: Sent = {},
): Promise<Answer> {
  return send(server.tsdb + path, { method, headers, ...(body === undefined ? {} : { body }) });
}

/** Path of a query with parameters. */
export function query(q: string, more: Record<string, string> = {}): string {
  return `/query?${new URLSearchParams({ q, ...more })}`;
}

/** The answer to one statement with one series. */
export function oneSeries(name: string, columns: readonly string[], values: unknown) {
  return { results: [{ statement_id: 0, series: [{ name, columns, values }] }] };
}

/** A request, and what has to be answered. */
export type Asked = {
  /** The part of the sentence that it shows, if several cases share the sentence. */
  readonly of?: string;
  readonly before?: readonly (readonly [method: string, path: string, body?: string])[];
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly status: number;
  /** The whole body; JSON is compared as JSON. */
  readonly answer?: unknown;
  readonly answerHeaders?: Readonly<Record<string, unknown>>;
};

/** Words of the specification: one sentence, or several that are shown together. */
type Quote = string | readonly string[];

/** Every sentence of a section, as it is written there, and what shows it. */
export function sentences(
  section: string,
  rows: readonly (readonly [quote: Quote, shown: readonly Asked[] | (() => unknown)])[],
): void {
  const tests = rows.flatMap(([quote, shown]): [string, () => unknown][] => {
    const title = [quote].flat().join(' ');
    if (typeof shown === 'function') return [[title, shown]];
    return shown.map((asked) => [
      asked.of === undefined ? title : `${title}: ${asked.of}`,
      () => check(asked),
    ]);
  });
  describe(section, () => {
    test('is quoted sentence by sentence', () => {
      const quoted = rows.flatMap(([quote]) => [quote].flat().map(hashOf));
      expect([...new Set(quoted)].toSorted()).toEqual(ALL[section]?.toSorted());
    });

    test.each(tests)('%s', { timeout: 60_000 }, async (_title, show) => {
      await show();
    });
  });
}

async function check(asked: Asked): Promise<void> {
  const { before = [], method = 'GET', path, headers = {}, body, status, answer } = asked;
  for (const [verb, where, text] of before) await ask(verb, where, { body: text });

  const given = await ask(method, path, { headers, body });

  expect({ status: given.status, text: given.text }).toMatchObject({ status });
  if (answer !== undefined) expect(parsed(given.text)).toEqual(answer);
  for (const [name, value] of Object.entries(asked.answerHeaders ?? {})) {
    expect([name, given.headers.get(name)]).toEqual([name, value]);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // CSV, chunks and nothing at all are compared as text.
    return text;
  }
}
