import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startUiServer } from './ui-server.ts';
import type { UiServer } from './ui-server.ts';

const service = createServer((incoming, response) => {
  response.writeHead(202, {
    'X-Seen': `${incoming.method} ${incoming.url} ${incoming.headers.host} ${incoming.headers.origin}`,
  });
  incoming.pipe(response);
});
let directory: string;
let ui: UiServer;
let serviceHost: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  serviceHost = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  directory = await mkdtemp(join(tmpdir(), 'tidemark-ui-'));
  await writeFile(join(directory, 'index.html'), '<title>Tidemark</title>');
  ui = await startUiServer({
    bind: { host: '127.0.0.1', port: 0 },
    directory: pathToFileURL(`${directory}/`),
    tsdbUrl: `http://${serviceHost}`,
  });
});

afterAll(async () => {
  await ui.close();
  service.close();
  await rm(directory, { recursive: true });
});

/** fetch does not let a test choose Host and Origin freely. */
function send(
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; seen: string; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(ui.url, { path, method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          seen: String(response.headers['x-seen']),
          text,
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end('body');
  });
}

test('forwards to the service what the page sends, with the path behind the prefix', async () => {
  const { host } = new URL(ui.url);

  expect(await send('/api/tsdb/query?q=a%20b', { Origin: `http://${host}` })).toEqual({
    status: 202,
    seen: `POST /query?q=a%20b ${serviceHost} undefined`,
    text: 'body',
  });
});

test('refuses other origins, other host names and services that do not run', async () => {
  const { port } = new URL(ui.url);

  expect((await send('/api/tsdb/query', { Origin: 'http://evil.example' })).status).toBe(403);
  expect((await send('/api/tsdb/query', { Host: `evil.example:${port}` })).status).toBe(421);
  expect((await send('/api/engine/engine/v1/ping', {})).status).toBe(502);
});

test('serves the start page with a content security policy, and nothing outside its folder', async () => {
  const page = await fetch(ui.url);

  expect(await page.text()).toBe('<title>Tidemark</title>');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
  for (const path of [
    '/../outside.txt',
    '/..%2foutside.txt',
    '/%2e%2e/outside.txt',
    '/%',
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
