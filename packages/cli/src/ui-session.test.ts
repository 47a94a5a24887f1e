import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import { TestServer } from '@tidemark/testkit';
import type { ServerAnswer } from '@tidemark/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { startUiServer } from './ui-server.ts';
import type { UiServer } from './ui-server.ts';
import { PageSessions, SESSION_IDLE_MS, SESSIONS_MAX } from './ui-session.ts';
import type { Session } from './ui-session.ts';

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** A database that knows an admin and a reader. */
const asked: IncomingHttpHeaders[] = [];
const database = new TestServer(({ path, headers }) => {
  asked.push(headers);
  const { authorization } = headers;
  const answer = (status: number, json: object): ServerAnswer => ({
    status,
    headers: { 'WWW-Authenticate': 'Basic realm="x"' },
    body: JSON.stringify(json),
  });
  const isAdmin = authorization === basic('root', 'pw');
  if (!isAdmin && authorization !== basic('reader', 'pw')) {
    return answer(401, { error: 'authorization failed' });
  }
  if (path !== '/api/me') return answer(200, {});
  return answer(
    200,
    isAdmin
      ? { user: 'root', admin: true, reads: ['house'], writes: ['house'] }
      : { user: 'reader', admin: false, reads: ['house'], writes: [] },
  );
});

let nowMs = 0;
let ui: UiServer;
beforeAll(async () => {
  await database.open();
  ui = await startUiServer({
    bind: { host: '127.0.0.1', port: 0 },
    isOpen: false,
    allowedHosts: [],
    allowedOrigins: [],
    trustedProxies: [],
    pageKey: 'key of the page',
    nowMs: () => nowMs,
    directory: new URL('.', import.meta.url),
    tsdbUrl: database.url,
  });
});
afterAll(async () => {
  await ui.close();
  await database.close();
});
beforeEach(() => {
  asked.length = 0;
});

type Answer = {
  readonly status: number;
  readonly cookie: string;
  readonly headers: IncomingHttpHeaders;
  readonly json: any;
};

/** A call of the page; `cookie` and `csrf` of a session. */
function call(
  method: string,
  path: string,
  options: { cookie?: string; csrf?: string; body?: string; headers?: object } = {},
): Promise<Answer> {
  const { cookie, csrf, body } = options;
  const headers = {
    ...options.headers,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(cookie === undefined ? {} : { Cookie: cookie }),
    ...(csrf === undefined ? {} : { 'X-CSRF-Token': csrf }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(ui.url + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => {
        const [set = ''] = response.headers['set-cookie'] ?? [];
        resolve({
          status: response.statusCode ?? 0,
          cookie: set,
          headers: response.headers,
          json: JSON.parse(text),
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function signIn(username: string, password = 'pw') {
  const answer = await call('POST', '/api/session', {
    body: JSON.stringify({ username, password }),
  });
  return { answer, cookie: answer.cookie.split(';')[0] ?? '', csrf: String(answer.json.csrf) };
}

test('a cookie that no script reads and a token make a session; a call needs both', async () => {
  const { answer, cookie, csrf } = await signIn('root');
  expect(answer.cookie).toMatch(/^tidemark-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(answer.json).toEqual({ user: 'root', isAdmin: true, csrf });
  // Wrong passwords count for the client.
  expect(asked[0]).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-tidemark-page-key': 'key of the page',
  });

  const query = '/api/tsdb/query?q=SHOW+DATABASES';
  expect((await call('GET', query, { cookie, csrf })).status).toBe(200);
  expect(asked.at(-1)).not.toHaveProperty('cookie');
  for (const less of [{}, { cookie }, { csrf }, { cookie, csrf: `${csrf.slice(1)}x` }]) {
    expect((await call('GET', query, less)).status).toBe(401);
  }
  // Credentials in a request take precedence over the session.
  const headers = { Authorization: basic('root', 'wrong') };
  expect((await call('GET', query, { cookie, csrf, headers })).status).toBe(401);
});

test('a reload takes the session up, and says what its user may do', async () => {
  const { cookie, csrf } = await signIn('reader');
  const again = await call('GET', '/api/session', { cookie });
  expect(again.json).toEqual({
    user: 'reader',
    isAdmin: false,
    reads: ['house'],
    writes: [],
    csrf,
  });
  expect((await call('GET', '/api/session')).status).toBe(401);
});

test('wrong passwords are told apart from what cannot be read, and make no session', async () => {
  const { answer } = await signIn('root', 'wrong');
  expect([answer.status, answer.json.error, answer.cookie]).toEqual([
    401,
    'authorization failed',
    '',
  ]);
  for (const body of ['', 'nonsense', 'null', '{}', `{"username": "${'x'.repeat(20_000)}"}`]) {
    expect((await call('POST', '/api/session', { body })).status, body.slice(0, 20)).toBe(400);
  }
  expect((await call('PUT', '/api/session')).status).toBe(405);
});

test('the browser is not told to ask by itself', async () => {
  const { headers, status } = await call('GET', '/api/tsdb/query');
  expect([status, headers['www-authenticate']]).toEqual([401, undefined]);
});

test('over TLS, as a proxy tells it, the cookie stays there', async () => {
  const body = JSON.stringify({ username: 'root', password: 'pw' });
  const headers = { 'X-Forwarded-Proto': 'https' };
  expect((await call('POST', '/api/session', { body, headers })).cookie).toMatch(/; Secure$/);
});

test('signing out ends the session; without the token nobody else can', async () => {
  const { cookie, csrf } = await signIn('root');
  await call('DELETE', '/api/session', { cookie });
  expect((await call('GET', '/api/session', { cookie })).status).toBe(200);
  const out = await call('DELETE', '/api/session', { cookie, csrf });
  expect(out.cookie).toContain('Max-Age=0');
  expect((await call('GET', '/api/session', { cookie })).status).toBe(401);
});

test('a session that nobody uses ends, and there are not more than there may be', async () => {
  const idle = await signIn('root');
  nowMs += SESSION_IDLE_MS;
  expect((await call('GET', '/api/session', idle)).status).toBe(200);
  nowMs += SESSION_IDLE_MS + 1;
  expect((await call('GET', '/api/session', idle)).status).toBe(401);
});

test('there are not more sessions than there may be: the one that was unused for longest ends', () => {
  const sessions = new PageSessions(() => 0);
  const open = () => sessions.open('Basic x', { user: 'root', isAdmin: true });
  const isOpen = ({ id }: Session): boolean => {
    const headers = { cookie: `other=1; tidemark-session=${id}` };
    return sessions.ofCookie({ headers } as IncomingMessage) !== undefined;
  };
  const first = open();
  const second = open();
  expect(isOpen(first)).toBe(true);
  for (let i = 0; i < SESSIONS_MAX - 1; i++) open();
  expect([isOpen(first), isOpen(second)]).toEqual([true, false]);
});
