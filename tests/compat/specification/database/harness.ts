// What the tests of the specification's sentences share: one server per file, and rows of a
// sentence, a request and what is answered. The specification is that of the database's HTTP API.
import { removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { Answer, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let server: Tidemark;

/** Starts the server before the tests of a file, runs its statements, and stops it after. */
export function useDatabase(
  options: { readonly args?: readonly string[]; readonly statements?: readonly string[] } = {},
): void {
  beforeAll(async () => {
    server = await startTidemark({ command: 'tsdb', args: options.args ?? [] });
    for (const q of options.statements ?? ['CREATE DATABASE d']) {
      expect((await ask('POST', `/query?${new URLSearchParams({ q })}`)).status).toBe(200);
    }
  });

  afterAll(async () => {
    await server.stop();
    await removeDirectory(server.directory);
  });
}

type Request = {
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | undefined;
};

/** Sends a request to the server of the file. */
export function ask(
  method: string,
  path: string,
  { headers = {}, body }: Request = {},
): Promise<Answer> {
  return send(server.tsdb + path, { method, headers, ...(body === undefined ? {} : { body }) });
}

/** Path of a query with parameters. */
export function query(q: string, more: Record<string, string> = {}): string {
  return `/query?${new URLSearchParams({ q, ...more })}`;
}

/** A sentence of the specification, how it is asked, and what has to be answered. */
export type Sentence = {
  readonly sentence: string;
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

/** One test per sentence. */
export function sentences(rows: readonly Sentence[]): void {
  test.each(rows.map((row) => [row.sentence, row] as const))('%s', async (_, row) => {
    for (const [method, path, body] of row.before ?? []) await ask(method, path, { body });

    const { method = 'GET', path, headers = {}, body } = row;
    const given = await ask(method, path, { headers, body });

    expect({ status: given.status, text: given.text }).toMatchObject({ status: row.status });
    if (row.answer !== undefined) expect(parsed(given.text)).toEqual(row.answer);
    for (const [name, value] of Object.entries(row.answerHeaders ?? {})) {
      expect([name, given.headers.get(name)]).toEqual([name, value]);
    }
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // CSV, chunks and nothing at all are compared as text.
    return text;
  }
}
