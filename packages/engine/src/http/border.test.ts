// The border of the engine's listener: pages of other origins and unknown host names cannot define
// tasks.
import http from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();
const TASK = JSON.stringify({ id: 'planted', type: 'stream', script: 'stream|from()' });

beforeAll(() =>
  engine.start({
    hostname: 'engine.lan',
    http: { 'allowed-hosts': ['tasks.example'], 'allowed-origins': ['https://board.example'] },
  }),
);
afterAll(() => engine.close());

type Answer = { readonly status: number; readonly cors: unknown; readonly text: string };

/** fetch does not let a program choose all of these headers. */
function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = http.request(`${engine.url}${path}`, { method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => {
        const cors = response.headers['access-control-allow-origin'];
        resolve({ status: response.statusCode ?? 0, cors, text });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const TASKS = '/engine/v1/tasks';

test.each([
  ['as text', { Origin: 'http://evil.example', 'Content-Type': 'text/plain' }, 403],
  ['as JSON', { Origin: 'http://evil.example', 'Content-Type': 'application/json' }, 403],
  ['as a form', { 'Sec-Fetch-Site': 'cross-site' }, 403],
  ['by a name that leads here', { Host: 'evil.example' }, 421],
  [
    'as text of an own page',
    { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'text/plain' },
    415,
  ],
])('a foreign page defines no task %s', async (_, headers, status) => {
  for (const path of [TASKS, '/kapacitor/v1/tasks']) {
    const answer = await ask('POST', path, headers, TASK);
    expect([answer.status, answer.cors, typeof JSON.parse(answer.text).error]).toEqual([
      status,
      undefined,
      'string',
    ]);
  }
  expect((await engine.call('GET', TASKS)).json.tasks).toEqual([]);
});

test('a foreign page is not answered when it asks first', async () => {
  const answer = await ask('OPTIONS', TASKS, { Origin: 'http://evil.example' });
  expect([answer.status, answer.cors]).toEqual([403, undefined]);
});

test('a page of a listed origin is served, and told so', async () => {
  const headers = { Origin: 'https://board.example', 'Sec-Fetch-Site': 'cross-site' };
  for (const method of ['OPTIONS', 'GET']) {
    const answer = await ask(method, TASKS, headers);
    expect([answer.status, answer.cors]).toEqual([200, 'https://board.example']);
  }
});

test.each(['localhost:9092', '[::1]:9092', 'tasks.example', 'engine.lan:9092'])(
  'programs come under the name %s',
  async (host) => {
    const answer = await ask('GET', TASKS, { Host: host, 'User-Agent': 'KapacitorClient' });
    expect([answer.status, answer.cors]).toEqual([200, undefined]);
  },
);
