// The border of the database's listeners: pages of other origins, unknown host names, statements in
// links.
import { request } from 'node:http';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    config: {
      http: { 'allowed-hosts': ['db.example'], 'allowed-origins': ['https://board.example'] },
    },
  });
  await service.query('CREATE DATABASE d');
});
afterAll(() => service.close());

type Answer = { readonly status: number; readonly cors: unknown; readonly text: string };

/** fetch does not let a program choose all of these headers. */
function ask(
  path: string,
  headers: Record<string, string>,
  { method = 'GET', body = '' } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}${path}`, { method, headers }, (response) => {
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

const databases = async (): Promise<string> => (await service.query('SHOW DATABASES')).text;
const DROP = '/query?q=DROP+DATABASE+d';

describe('pages of other origins', () => {
  test.each([
    ['/query', 'POST'],
    ['/write?db=d', 'POST'],
    ['/ping', 'GET'],
    ['/metrics', 'GET'],
    ['/openapi.json', 'GET'],
    ['/nothing', 'GET'],
    ['/query', 'OPTIONS'],
  ])('%s by %s is refused before anything else, and logged', async (path, method) => {
    const answer = await ask(path, { Origin: 'http://evil.example' }, { method });
    expect([answer.status, answer.cors]).toEqual([403, undefined]);
    expect(JSON.parse(answer.text).error).toContain('http.allowed-origins');
    expect(service.logged.join('')).toContain('requests from pages of http://evil.example');
  });

  test('write and query when they are listed, as text too', async () => {
    const headers = { Origin: 'https://board.example', 'Sec-Fetch-Site': 'cross-site' };
    const preflight = await ask('/write', headers, { method: 'OPTIONS' });
    expect([preflight.status, preflight.cors]).toEqual([204, 'https://board.example']);
    const text = { ...headers, 'Content-Type': 'text/plain' };
    const written = await ask('/write?db=d', text, { method: 'POST', body: 'm f=1 1' });
    expect([written.status, written.cors]).toEqual([204, 'https://board.example']);
  });
});

test('a name that leads here and is not listed is not served', async () => {
  expect((await ask('/query?q=SHOW+DATABASES', { Host: 'evil.example' })).status).toBe(421);
  for (const host of ['db.example', 'localhost:1', '[::1]:8086', new URL(service.url).host]) {
    expect((await ask('/query?q=SHOW+DATABASES', { Host: host })).status, host).toBe(200);
  }
});

describe('a statement that changes something', () => {
  test.each([
    ['a browser', { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' }],
    ['an address that was typed', { 'Sec-Fetch-Site': 'none' }],
    ['a listed page', { Origin: 'https://board.example' }],
  ])('does not run by GET from %s', async (_, headers) => {
    const answer = await ask(DROP, headers);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([
      400,
      "'DROP DATABASE d' changes something; please use a POST request",
    ]);
    expect(await databases()).toContain('"d"');
    expect((await ask('/query?q=SHOW+DATABASES', headers)).status).toBe(200);
  });

  test('runs by POST as a form from an own page, not as text', async () => {
    const { host, origin } = new URL(service.url);
    const own = { Host: host, Origin: origin, 'Sec-Fetch-Site': 'same-origin' };
    const post = (type: string) =>
      ask(
        '/query',
        { ...own, 'Content-Type': type },
        { method: 'POST', body: 'q=CREATE DATABASE e' },
      );
    expect((await post('text/plain')).status).toBe(415);
    expect(await databases()).not.toContain('"e"');
    expect((await post('application/x-www-form-urlencoded')).status).toBe(200);
    expect(await databases()).toContain('"e"');
  });

  test('runs by GET from a program, as always', async () => {
    expect((await ask('/query?q=CREATE+DATABASE+f', { 'User-Agent': 'curl/8' })).status).toBe(200);
    expect(await databases()).toContain('"f"');
  });
});

test('an origin that is none ends the start', async () => {
  const config = { http: { 'allowed-origins': ['*'] } };
  await expect(startTestService({ config })).rejects.toThrow(/^http\.allowed-origins must be/);
});
