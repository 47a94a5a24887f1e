// “Errors”, “GET /ping and HEAD /ping”, “GET /debug/requests” and “Versioning”.
import { expect, test } from 'vitest';

import { ask, query, sentences, useDatabase } from './harness.ts';

useDatabase();

const VERSION = expect.stringMatching(/^\d+\.\d+\.\d+$/);

sentences([
  {
    sentence: 'a statement fails at execution, for example the database named by db does not exist',
    path: query('SELECT f FROM m', { db: 'nothing' }),
    status: 200,
    answer: { results: [{ statement_id: 0, error: 'database not found: nothing' }] },
  },
  {
    sentence: 'unacceptable request, for example a syntactically incorrect statement',
    path: query('SELECT FROM m', { db: 'd' }),
    status: 400,
    answer: {
      error:
        'error parsing query: found FROM, expected identifier, string, number, bool at line 1, char 8',
    },
  },
  {
    sentence: 'line protocol syntax error, for example a bad timestamp',
    method: 'POST',
    path: '/write?db=d',
    body: 'm f=1 abc',
    status: 400,
    answer: { error: "unable to parse 'm f=1 abc': bad timestamp" },
  },
  {
    sentence: 'a value is written to a field whose existing type differs',
    before: [['POST', '/write?db=d', 'kept f=1 1']],
    method: 'POST',
    path: '/write?db=d',
    body: 'kept f="s" 2',
    status: 400,
    answer: {
      error:
        'field type conflict: input field f on measurement kept is type string, already exists as type float',
    },
  },
  {
    sentence: 'a value is written to a field whose existing type differs: within one request',
    method: 'POST',
    path: '/write?db=d',
    body: 'k f=1 1\nk f="s" 2',
    status: 400,
    answer: {
      error:
        'partial write: field type conflict: input field f on measurement k is type string, already exists as type float dropped=1',
    },
  },
  {
    sentence: '/write, 404: target database does not exist',
    method: 'POST',
    path: '/write?db=nothing',
    body: 'm f=1 1',
    status: 404,
    answer: { error: 'database not found: nothing' },
  },
  {
    sentence: '/write, 500: also returned when the target retention policy does not exist',
    method: 'POST',
    path: '/write?db=d&rp=nothing',
    body: 'm f=1 1',
    status: 500,
    answer: { error: 'retention policy not found: nothing' },
  },
  {
    sentence: 'Error bodies are JSON: an unknown path',
    path: '/nothing',
    status: 404,
    answer: { error: '404 page not found' },
    answerHeaders: { 'content-type': 'application/json' },
  },
  {
    sentence: 'Error bodies are JSON: an unknown method',
    method: 'PUT',
    path: '/query',
    status: 405,
    answer: { error: 'Method Not Allowed' },
    answerHeaders: { 'content-type': 'application/json' },
  },
  {
    sentence: 'Response headers: Content-Type, Request-Id, X-Tsdb-Version, Date, Content-Length',
    path: query('SHOW DATABASES'),
    headers: { 'Accept-Encoding': 'identity' },
    status: 200,
    answerHeaders: {
      'content-type': 'application/json',
      'request-id': expect.stringMatching(/./),
      'x-tsdb-version': VERSION,
      date: expect.stringMatching(/GMT$/),
      'content-length': expect.stringMatching(/^\d+$/),
    },
  },
  ...['GET', 'HEAD'].map((method) => ({
    sentence: `${method} /ping: 204 with an empty body, the version in X-Tsdb-Version`,
    method,
    path: '/ping',
    status: 204,
    answer: '',
    answerHeaders: {
      'content-type': 'application/json',
      'request-id': expect.stringMatching(/./),
      'x-tsdb-version': VERSION,
      date: expect.stringMatching(/GMT$/),
    },
  })),
  {
    sentence: 'seconds: length in seconds of the interval over which counts are collected',
    path: '/debug/requests?seconds=abc',
    status: 400,
    answer: { error: 'seconds must be a whole number, not "abc"' },
  },
]);

test('keys are <username>:<ip_address>, values { writes, queries }', async () => {
  const watch = ask('GET', '/debug/requests?seconds=1');
  const ended = watch.then(() => true);
  do {
    await ask('GET', query('SHOW DATABASES', { u: 'ana', p: 'pw' }));
    await ask('POST', '/write?db=d&u=ana&p=pw', { body: 'counted f=1 1' });
  } while ((await Promise.race([ended, false])) === false);

  expect(JSON.parse((await watch).text)).toEqual({
    'ana:127.0.0.1': { writes: expect.any(Number), queries: expect.any(Number) },
  });
});
