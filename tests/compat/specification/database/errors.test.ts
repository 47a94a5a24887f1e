// The section “Errors” of the specification of the database's HTTP API.
import { removeDirectory, send, startTidemark } from '@tidemark/testkit';
import { expect } from 'vitest';

import { query, sentences, SOME, useDatabase, VERSION } from './harness.ts';

useDatabase();

const db = { db: 'd' };
const post = { method: 'POST', path: '/write?db=d' };
const json = { 'content-type': 'application/json' };
const noDatabase = {
  path: query('SELECT f FROM m', { db: 'nothing' }),
  status: 200,
  answer: { results: [{ statement_id: 0, error: 'database not found: nothing' }] },
};
const noStatement = {
  path: query('SELECT FROM m', db),
  status: 400,
  answer: {
    error:
      'error parsing query: found FROM, expected identifier, string, number, bool at line 1, char 8',
  },
};
const noPolicy = {
  method: 'POST',
  path: '/write?db=d&rp=nothing',
  body: 'm f=1 1',
  status: 500,
  answer: { error: 'retention policy not found: nothing' },
};

sentences('Errors', [
  [
    'Error bodies are JSON.',
    [
      {
        of: 'an unknown path',
        path: '/nothing',
        status: 404,
        answer: { error: '404 page not found' },
        answerHeaders: json,
      },
      {
        of: 'an unknown method',
        method: 'PUT',
        path: '/query',
        status: 405,
        answer: { error: 'Method Not Allowed' },
        answerHeaders: json,
      },
      { of: 'a write', ...post, body: 'm f=', status: 400, answerHeaders: json },
    ],
  ],
  [
    'Two shapes exist: top-level `{ error: <string> }`, and a per-statement `error` inside a query result entry.',
    [
      { of: 'top-level', ...noStatement },
      { of: 'per statement', ...noDatabase },
    ],
  ],
  [
    '/query | 200 | a statement fails at execution, for example the database named by `db` does not exist | `{results:[{statement_id:<int>, error:"database not found: <db>"}]}`',
    [noDatabase],
  ],
  [
    '/query | 400 | unacceptable request, for example a syntactically incorrect statement | `{error:"error parsing query: <detail>"}`',
    [noStatement],
  ],
  [
    '/query, /write | 401 | invalid or missing credentials while authentication is enabled | `{error:"authorization failed"}`',
    async () => {
      const args = ['--http-auth-enabled', 'true'];
      const closed = await startTidemark({ command: 'tsdb', args });
      try {
        await send(closed.tsdb + query("CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES"), {
          method: 'POST',
        });
        for (const [method, path] of [
          ['GET', query('SHOW DATABASES')],
          ['GET', query('SHOW DATABASES', { u: 'root', p: 'no' })],
          ['POST', '/write?db=d'],
          ['POST', '/write?db=d&u=root&p=no'],
        ] as const) {
          const body = method === 'POST' ? { body: 'm f=1' } : {};
          const { status, text } = await send(closed.tsdb + path, { method, ...body });
          expect([path, status, JSON.parse(text)]).toEqual([
            path,
            401,
            { error: 'authorization failed' },
          ]);
        }
      } finally {
        await closed.stop();
        await removeDirectory(closed.directory);
      }
    },
  ],
  [
    '/write | 400 | line protocol syntax error, for example a bad timestamp | `{error:"unable to parse \'<line>\': bad timestamp"}`',
    [
      {
        ...post,
        body: 'm f=1 abc',
        status: 400,
        answer: { error: "unable to parse 'm f=1 abc': bad timestamp" },
      },
    ],
  ],
  [
    '/write | 400 | a value is written to a field whose existing type differs | `{error:"field type conflict: input field <field> on measurement <measurement> is type <new_type>, already exists as type <old_type>"}`',
    [
      {
        before: [['POST', '/write?db=d', 'kept f=1 1']],
        ...post,
        body: 'kept f="s" 2',
        status: 400,
        answer: {
          error:
            'field type conflict: input field f on measurement kept is type string, already exists as type float',
        },
      },
      {
        of: 'within one request',
        ...post,
        body: 'k f=1 1\nk f="s" 2',
        status: 400,
        answer: {
          error:
            'partial write: field type conflict: input field f on measurement k is type string, already exists as type float dropped=1',
        },
      },
    ],
  ],
  [
    '/write | 404 | target database does not exist | `{error:"database not found: <db>"}`',
    [
      {
        ...post,
        path: '/write?db=nothing',
        body: 'm f=1 1',
        status: 404,
        answer: { error: 'database not found: nothing' },
      },
    ],
  ],
  [
    '/write | 500 | system overloaded or impaired; also returned when the target retention policy does not exist | `{error:"retention policy not found: <rp>"}` for the latter',
    [noPolicy],
  ],
  [
    'General classes: 2xx success, 4xx the request was not understood, 5xx the system is overloaded or significantly impaired.',
    [
      { of: '2xx', ...post, body: 'm f=1 1', status: 204 },
      { of: '4xx', ...noStatement },
      { of: '5xx', ...noPolicy },
    ],
  ],
  [
    'Response headers seen on query and write responses: `Content-Type: application/json`, `Request-Id`, `X-Tsdb-Version`, `Date`, and `Content-Length` or chunked transfer.',
    [
      {
        of: 'query',
        path: query('SHOW DATABASES'),
        headers: { 'Accept-Encoding': 'identity' },
        status: 200,
        answerHeaders: {
          ...json,
          'request-id': SOME,
          'x-tsdb-version': VERSION,
          date: expect.stringMatching(/GMT$/),
          'content-length': expect.stringMatching(/^\d+$/),
        },
      },
      {
        of: 'write',
        ...post,
        body: 'm f=1 1',
        status: 204,
        answerHeaders: {
          ...json,
          'request-id': SOME,
          'x-tsdb-version': VERSION,
          date: expect.stringMatching(/GMT$/),
        },
      },
    ],
  ],
]);
