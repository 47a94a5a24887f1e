// HTTPS with the same settings and the same certificate file as the database.
import { readFileSync } from 'node:fs';
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const CERTIFICATE = fileURLToPath(
  new URL('../../../tsdb/src/testdata/localhost.pem', import.meta.url),
);

let engine: TestEngine;

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

const https = (more: object = {}): object => ({
  'https-enabled': true,
  'https-certificate': CERTIFICATE,
  ...more,
});

type Settled = (response: IncomingMessage) => void;

/** Status and version of the engine's ping; the error of a connection that was refused. */
function ping(get: (settled: Settled) => ReturnType<typeof getPlain>): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    get((response) => {
      response.resume();
      response.on('end', () => resolve([response.statusCode, response.httpVersion]));
    }).on('error', reject);
  });
}

const port = (): number => Number(new URL(engine.url).port);
const target = (): { host: string; port: number; path: string; agent: false } => ({
  host: '127.0.0.1',
  port: port(),
  path: '/engine/v1/ping',
  agent: false,
});
const trusting = () => ({
  ...target(),
  ca: readFileSync(CERTIFICATE),
  servername: 'localhost',
});

test('clients that trust the certificate are answered, and plain HTTP is refused', async () => {
  await engine.start({ http: https() });

  expect(engine.url).toMatch(/^https:/);
  expect(await ping((settled) => getSecure(trusting(), settled))).toEqual([204, '1.1']);
  await expect(ping((settled) => getSecure(target(), settled))).rejects.toThrow(/certificate/);
  await expect(ping((settled) => getPlain(target(), settled))).rejects.toThrow(/hang up|reset/i);
});

test('the key may lie in a file of its own, and old versions of TLS are refused', async () => {
  await engine.start({
    http: https({ 'https-private-key': CERTIFICATE }),
    tls: { 'min-version': 'tls1.3' },
  });

  expect(await ping((settled) => getSecure(trusting(), settled))).toEqual([204, '1.1']);
  const old = { ...trusting(), maxVersion: 'TLSv1.2' as const };
  await expect(ping((settled) => getSecure(old, settled))).rejects.toThrow(/version/);
});
