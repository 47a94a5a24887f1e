import { createServer, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { BorderGuard, isFromBrowser } from './border.ts';
import type { BorderSettings } from './border.ts';

const LOOPBACK: BorderSettings = {
  section: 'http',
  boundHost: '127.0.0.1',
  allowedHosts: [],
  isOpen: true,
  allowedOrigins: [],
  trustedProxies: [],
};

// The guard sees real requests, as Node.js parses them.
let seen: ((incoming: IncomingMessage) => void) | undefined;
const server = createServer((incoming, response) => {
  seen?.(incoming);
  response.end();
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

async function received(
  method: string,
  headers: Record<string, string>,
  body = '',
): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    seen = resolve;
    const outgoing = request({ port, host: '127.0.0.1', method, headers }, (r) => r.resume());
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const status = async (
  settings: Partial<BorderSettings>,
  method: string,
  headers: Record<string, string>,
  body = '',
): Promise<number | undefined> =>
  new BorderGuard({ ...LOOPBACK, ...settings }).refusal(await received(method, headers, body))
    ?.status;

describe('the host of a request', () => {
  test.each([
    ['localhost:8086', undefined],
    ['LOCALHOST', undefined],
    ['localhost.:8086', undefined],
    ['127.0.0.1:1', undefined],
    ['127.1.2.3', undefined],
    ['[::1]:8086', undefined],
    ['evil.example', 421],
    ['evil.example:8086', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost.evil.example', 421],
    ['10.0.0.5:8086', 421],
    ['0.0.0.0:8086', 421],
    ['user@localhost', 421],
  ])('%j on loopback: %s', async (host, expected) => {
    expect(await status({}, 'GET', { Host: host })).toBe(expected);
  });

  test('is one of the names that the listener has, that it is given, or with none anything', async () => {
    const named = { allowedHosts: ['db.example', 'FE80::7'], ownNames: ['engine.lan'] };
    expect(await status(named, 'GET', { Host: 'DB.example:80' })).toBe(undefined);
    expect(await status(named, 'GET', { Host: '[fe80::7]:80' })).toBe(undefined);
    expect(await status(named, 'GET', { Host: 'engine.lan' })).toBe(undefined);
    expect(await status(named, 'GET', { Host: 'other.example' })).toBe(421);

    const elsewhere = { boundHost: '10.0.0.5', isOpen: false, ownNames: ['engine.example'] };
    expect(await status(elsewhere, 'GET', { Host: 'any.example' })).toBe(undefined);
    const listed = { ...elsewhere, allowedHosts: ['db.example'] };
    expect(await status(listed, 'GET', { Host: 'any.example' })).toBe(421);
    expect(await status(listed, 'GET', { Host: '10.0.0.5:8086' })).toBe(undefined);

    const open = { ...elsewhere, isOpen: true };
    for (const name of ['10.1.1.1', '[fe80::1]', 'tidemark', 'db.internal', 'engine.example']) {
      expect(await status(open, 'GET', { Host: `${name}:8086` }), name).toBe(undefined);
    }
    for (const name of ['any.example', '10.0.0.5.any.example', 'internal.example']) {
      expect(await status(open, 'GET', { Host: name }), name).toBe(421);
      expect(await status({ ...open, allowedHosts: [name] }, 'GET', { Host: name })).toBe(
        undefined,
      );
    }

    const socket = { boundHost: undefined, allowedHosts: ['db.example'] };
    expect(await status(socket, 'GET', { Host: 'any.example' })).toBe(undefined);
  });

  test('comes once', async () => {
    const incoming = new Promise<IncomingMessage>((resolve) => (seen = resolve));
    const { port } = server.address() as AddressInfo;
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nhOST: evil.example\r\n\r\n'),
    );
    const refusal = new BorderGuard({ ...LOOPBACK, boundHost: '0.0.0.0' }).refusal(await incoming);
    socket.destroy();

    expect(refusal).toEqual({
      status: 400,
      message: 'malformed request: more than one Host header',
    });
  });
});

describe('the origin of a request', () => {
  const own = { Host: 'localhost:8086', Origin: 'http://localhost:8086' };
  const json = { 'Content-Type': 'application/json' };
  test.each<[string, string, Record<string, string>, number | undefined]>([
    ['a program', 'POST', {}, undefined],
    ['the fetch of a program', 'POST', { 'Sec-Fetch-Mode': 'cors' }, undefined],
    ['an address that was typed', 'GET', { 'Sec-Fetch-Site': 'none' }, undefined],
    ['our own page', 'POST', { ...own, ...json }, undefined],
    ['our own page, reading', 'GET', { 'Sec-Fetch-Site': 'same-origin' }, undefined],
    [
      'our own page behind a proxy that has another name',
      'POST',
      { Origin: 'https://shown.example', 'Sec-Fetch-Site': 'same-origin', ...json },
      undefined,
    ],
    ['another page', 'POST', { Origin: 'http://evil.example', ...json }, 403],
    ['another page, reading', 'GET', { Origin: 'http://evil.example' }, 403],
    ['another page, asking first', 'OPTIONS', { Origin: 'http://evil.example' }, 403],
    ['no page in particular', 'POST', { Origin: 'null', ...json }, 403],
    ['an image of another page', 'GET', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['another port of this machine', 'GET', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ['another port', 'GET', { Host: 'localhost:8086', Origin: 'http://localhost:3000' }, 403],
    ['a lie beside the truth', 'POST', { ...own, 'Sec-Fetch-Site': 'cross-site', ...json }, 403],
    ['our own page with text', 'POST', { ...own, 'Content-Type': 'text/plain' }, 415],
    ['our own page with bytes', 'POST', { ...own, 'Content-Type': 'APPLICATION/x' }, undefined],
    [
      'our own page with a file',
      'POST',
      { ...own, 'Content-Type': 'multipart/form-data' },
      undefined,
    ],
    ['our own page with a body of no type', 'PUT', { ...own }, 415],
  ])('%s: %s', async (_, method, headers, expected) => {
    const body = method === 'GET' || method === 'OPTIONS' ? '' : 'body';
    expect(await status({}, method, { Host: 'localhost', ...headers }, body)).toBe(expected);
  });

  test('without a body needs no type', async () => {
    expect(await status({}, 'DELETE', own)).toBe(undefined);
  });

  test('may be listed, which alone gives CORS headers', async () => {
    const guard = new BorderGuard({
      ...LOOPBACK,
      allowedOrigins: ['https://Grafana.example:3000'],
    });
    const listed = await received('POST', {
      Host: 'localhost',
      Origin: 'https://grafana.example:3000',
      'Sec-Fetch-Site': 'cross-site',
      'Content-Type': 'text/plain',
    });
    const other = await received('GET', { Host: 'localhost', Origin: 'https://grafana.example' });
    const program = await received('GET', { Host: 'localhost' });

    expect(guard.refusal(listed)).toBe(undefined);
    expect(guard.corsHeaders(listed)).toMatchObject({
      'Access-Control-Allow-Origin': 'https://grafana.example:3000',
      Vary: 'Origin',
    });
    expect(guard.refusal(other)?.message).toContain('http.allowed-origins');
    expect([guard.corsHeaders(other), guard.corsHeaders(program)]).toEqual([{}, {}]);
  });

  test.each(['*', 'evil.example', 'http://evil.example/', 'null', 'ftp://x'])(
    'a setting with %j is refused',
    (text) => {
      expect(() => new BorderGuard({ ...LOOPBACK, allowedOrigins: [text] })).toThrow(
        /^http\.allowed-origins must be origins, for example .*; got "/,
      );
    },
  );
});

test.each<[Record<string, string>, boolean]>([
  [{}, false],
  [{ 'User-Agent': 'curl/8.5.0' }, false],
  [{ 'User-Agent': 'Grafana/11.0' }, false],
  [{ 'Sec-Fetch-Mode': 'cors', 'User-Agent': 'node' }, false],
  [{ 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' }, true],
  [{ 'Sec-Fetch-Site': 'none' }, true],
  [{ Origin: 'http://localhost' }, true],
])('%j is from a browser: %s', async (headers, expected) => {
  expect(isFromBrowser(await received('GET', headers))).toBe(expected);
});
