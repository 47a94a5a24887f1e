import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ClientAddresses, PAGE_KEY_HEADER } from './client-address.ts';

let addresses = new ClientAddresses([], 'x');
const server = createServer((incoming, response) => response.end(addresses.of(incoming)));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

/** The address of a request that comes from 127.0.0.1. */
function addressOf(headers: Record<string, string | string[]>): Promise<string> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve(text));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const HEADER = 'X-Forwarded-For';

test('nobody is believed who is not trusted', async () => {
  addresses = new ClientAddresses(['10.0.0.0/8'], 'x', 'key');
  expect(await addressOf({})).toBe('127.0.0.1');
  expect(await addressOf({ [HEADER]: '10.1.1.1' })).toBe('127.0.0.1');
  expect(await addressOf({ [HEADER]: '10.1.1.1', [PAGE_KEY_HEADER]: 'kex' })).toBe('127.0.0.1');
  addresses = new ClientAddresses([], 'x');
  expect(await addressOf({ [HEADER]: '10.1.1.1', [PAGE_KEY_HEADER]: '' })).toBe('127.0.0.1');
});

test.each<[string | string[], string]>([
  ['192.0.2.7', '192.0.2.7'],
  // Addresses that the client wrote itself precede those that the proxy saw.
  ['198.51.100.1, 192.0.2.7', '192.0.2.7'],
  [['198.51.100.1', '192.0.2.7'], '192.0.2.7'],
  ['198.51.100.1, 192.0.2.7, 10.0.0.5', '192.0.2.7'],
  ['2001:db8::1, 10.0.0.5', '2001:db8::1'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['nonsense', '127.0.0.1'],
  ['nonsense, 10.0.0.5', '10.0.0.5'],
  ['', '127.0.0.1'],
  ['10.0.0.4', '10.0.0.4'],
])('behind trusted proxies the last stranger counts: %j is %s', async (forwarded, expected) => {
  addresses = new ClientAddresses(['127.0.0.1', '10.0.0.0/8', 'fe80::/10'], 'x');
  expect(await addressOf({ [HEADER]: forwarded })).toBe(expected);
});

test('the server of the page is known by its key', async () => {
  addresses = new ClientAddresses([], 'x', 'key');
  const headers = { [HEADER]: '198.51.100.1, 192.0.2.7', [PAGE_KEY_HEADER]: 'key' };
  expect(await addressOf(headers)).toBe('192.0.2.7');
});

test.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', ''])(
  'a setting with %j is refused',
  (text) => {
    expect(() => new ClientAddresses([text], 'http.trusted-proxies')).toThrow(
      /^http\.trusted-proxies must be addresses or networks/,
    );
  },
);
