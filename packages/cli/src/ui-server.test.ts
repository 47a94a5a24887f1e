import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { TestServer } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startUiServer } from './ui-server.ts';
import type { UiServer } from './ui-server.ts';

const service = new TestServer(({ method, path, headers, body }) => ({
  status: 202,
  headers: {
    'X-Tsdb-Version': JSON.stringify([method, path, headers]),
    'Content-Security-Policy': 'default-src *',
    'Set-Cookie': 'a=b',
    'Content-Type': 'text/html',
  },
  body,
}));
// Another server of this machine: nothing may come here.
const stranger = new TestServer(() => ({ body: 'strange' }));
let directory: string;
let ui: UiServer;
let serviceHost: string;
let strangerHost: string;

beforeAll(async () => {
  await service.open();
  serviceHost = `127.0.0.1:${service.port}`;
  await stranger.open();
  strangerHost = `127.0.0.1:${stranger.port}`;
  directory = await mkdtemp(join(tmpdir(), 'tidemark-ui-'));
  await writeFile(join(directory, 'index.html'), '<title>Tidemark</title><i>STYLE_NONCE</i>');
  ui = await startUiServer({
    bind: { host: '127.0.0.1', port: 0 },
    isOpen: true,
    allowedHosts: ['shown.example'],
    allowedOrigins: [],
    trustedProxies: ['127.0.0.2'],
    pageKey: 'key of the page',
    nowMs: () => 0,
    directory: pathToFileURL(`${directory}/`),
    tsdbUrl: `http://${serviceHost}`,
  });
});

afterAll(async () => {
  await ui.close();
  await service.close();
  await stranger.close();
  await rm(directory, { recursive: true });
});

type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/** fetch does not let a test choose path and headers freely. */
function send(
  path: string,
  headers: Record<string, string | string[]> = {},
  { method = 'POST', body = 'body' } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(ui.url, { path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

test('forwards what the page sends, with the path behind the prefix and the headers that are needed', async () => {
  const { host } = new URL(ui.url);
  const answer = await send('/api/tsdb/query?q=a%20b', {
    ...FORM,
    Origin: `http://${host}`,
    Authorization: 'Basic eDp5',
    Cookie: 'secret=1',
    'X-Forwarded-For': '10.9.9.9',
    'X-Tidemark-Page-Key': 'guessed',
    'X-HTTP-Method-Override': 'DELETE',
    'Content-Length': '4',
  });

  expect([answer.status, answer.text]).toEqual([202, 'body']);
  expect(JSON.parse(String(answer.headers['x-tsdb-version']))).toEqual([
    'POST',
    '/query?q=a%20b',
    {
      host: serviceHost,
      'x-forwarded-for': '127.0.0.1',
      'x-tidemark-page-key': 'key of the page',
      authorization: 'Basic eDp5',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': '4',
      connection: 'keep-alive',
    },
  ]);
});

test('a body without a length is no second request', async () => {
  const smuggled = 'GET /second HTTP/1.1\r\nHost: x\r\n\r\n';
  const headers = { ...FORM, 'Transfer-Encoding': 'chunked' };
  for (const method of ['DELETE', 'GET', 'POST']) {
    const answer = await send('/api/tsdb/first', headers, { method, body: smuggled });
    expect([method, answer.status, answer.text]).toEqual([method, 202, smuggled]);
  }
});

test('answers of services come as data, without headers that are not needed', async () => {
  const { headers } = await send('/api/tsdb/query', FORM);

  expect(headers['content-security-policy']).toBe(DATA_POLICY);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect([headers['content-type'], headers['set-cookie']]).toEqual(['text/html', undefined]);
});

test('nothing in a path leads to another server', async () => {
  const paths = ['//HOST/x', '/\\\\HOST/x', '/\\HOST', '/@HOST/', '/http://HOST/', '/../../HOST'];
  for (const prefix of ['/api/tsdb', '/api/tsdb/..', '/x/../api/tsdb']) {
    for (const path of paths.map((text) => prefix + text.replace('HOST', strangerHost))) {
      const answer = await send(path, { Authorization: 'Basic eDp5' }, { method: 'GET', body: '' });
      expect(answer.text, path).not.toBe('strange');
      expect(answer.headers['content-security-policy'], path).toMatch(/^default-src '(self|none)'/);
      expect(answer.headers['x-content-type-options'], path).toBe('nosniff');
      if (answer.status === 202) {
        const [, seenPath, seen] = JSON.parse(String(answer.headers['x-tsdb-version']));
        expect([seen.host, seenPath], path).toEqual([serviceHost, path.slice('/api/tsdb'.length)]);
      } else expect(answer.status, path).toBe(404);
    }
  }
  expect((await send(`http://${strangerHost}/x`, FORM)).status).toBe(400);
  expect(stranger.requests).toEqual([]);
});

test('refuses other origins, other host names, text and services that do not run', async () => {
  const { port, origin } = new URL(ui.url);
  const query = (headers: Record<string, string>) => send('/api/tsdb/query', headers);

  expect((await query({ ...FORM, Origin: 'http://evil.example' })).status).toBe(403);
  expect((await query({ ...FORM, 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
  expect((await query({ Origin: origin, 'Content-Type': 'text/plain' })).status).toBe(415);
  const rebound = await query({ Host: `evil.example:${port}` });
  expect([rebound.status, rebound.text]).toEqual([
    421,
    expect.stringContaining('ui.allowed-hosts'),
  ]);
  expect((await query({ ...FORM, Host: 'shown.example' })).status).toBe(202);
  expect((await send('/api/engine/engine/v1/ping')).status).toBe(502);
});

test('malformed requests are answered with the same headers', async () => {
  const { port } = new URL(ui.url);
  const answer = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = net.connect(Number(port), '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('end', () => resolve(text)).on('error', reject);
  });

  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('X-Content-Type-Options: nosniff\r\n');
});

test('serves the start page with a content security policy, and nothing outside its folder', async () => {
  const page = await fetch(ui.url);

  expect(page.url).toBe(`${ui.url}/ui/`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
  for (const path of [
    '/../outside.txt',
    '/ui/../outside.txt',
    '/ui/..%2foutside.txt',
    '/ui/%2e%2e/outside.txt',
    '/ui/file:///etc/passwd',
    '/ui/%',
    '/ui/missing.js',
    '/missing',
  ]) {
    const status = await new Promise((resolve, reject) => {
      request(ui.url, { path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status, path).toBe(404);
  }
});

test('every page is the same document, with a number for its styles that changes', async () => {
  const numbers = new Set<string>();
  for (const path of ['/ui/', '/ui/explore', '/ui/explore?q=SHOW+DATABASES']) {
    const page = await fetch(ui.url + path);
    const [, nonce = ''] = /<i>(.{24})<\/i>/.exec(await page.text()) ?? [];
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('cache-control')).toBe('no-store');
    numbers.add(nonce);
  }
  expect(numbers.size).toBe(3);
  const moved = await fetch(`${ui.url}/ui`, { redirect: 'manual' });
  expect([moved.status, moved.headers.get('location')]).toEqual([302, 'ui/']);
});

test('a service that does not begin to answer is given up; an answer that has begun may rest', async () => {
  const TIMEOUT_MS = 100;
  const slow = createServer((incoming, response) => {
    if (incoming.url === '/never') return;
    response.write('first ');
    setTimeout(() => response.end('last'), TIMEOUT_MS * 3);
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const page = await startUiServer({
    bind: { host: '127.0.0.1', port: 0 },
    isOpen: true,
    allowedHosts: [],
    allowedOrigins: [],
    trustedProxies: [],
    pageKey: 'key',
    nowMs: () => 0,
    answerTimeoutMs: TIMEOUT_MS,
    directory: pathToFileURL(`${directory}/`),
    tsdbUrl: `http://127.0.0.1:${(slow.address() as AddressInfo).port}`,
  });
  const never = await fetch(`${page.url}/api/tsdb/never`);
  expect([never.status, await never.text()]).toEqual([502, expect.stringContaining('in time')]);
  expect(await (await fetch(`${page.url}/api/tsdb/rests`)).text()).toBe('first last');
  await page.close();
  slow.close();
  slow.closeAllConnections();
});

test('/health says how the services are that the page asks', async () => {
  let answer = { status: 'warn', message: '1 enabled but not running' };
  const engine = new TestServer(() => ({ body: JSON.stringify(answer) }));
  await engine.open();
  const page = await startUiServer({
    bind: { host: '127.0.0.1', port: 0 },
    isOpen: true,
    allowedHosts: [],
    allowedOrigins: [],
    trustedProxies: [],
    pageKey: 'key',
    nowMs: () => 0,
    directory: pathToFileURL(`${directory}/`),
    engineUrl: engine.url,
  });
  const health = async (): Promise<unknown> => {
    const response = await fetch(`${page.url}/health`);
    return { status: response.status, json: await response.json() };
  };

  expect(await health()).toMatchObject({
    status: 200,
    json: { status: 'warn', message: 'engine: 1 enabled but not running', name: 'tidemark-ui' },
  });
  answer = { status: 'pass', message: 'ready' };
  expect(await health()).toMatchObject({ status: 200, json: { status: 'pass', message: 'ready' } });
  await engine.close();
  expect(await health()).toMatchObject({
    status: 503,
    json: { status: 'fail', checks: [{ name: 'tsdb', status: 'pass' }, { name: 'engine' }] },
  });
  await page.close();
});
