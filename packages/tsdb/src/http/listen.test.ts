import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

const RENEWED = fileURLToPath(new URL('../testdata/localhost-renewed.pem', import.meta.url));
const CERTIFICATE = fileURLToPath(new URL('../testdata/localhost.pem', import.meta.url));

let directory: string;
let service: TestService | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-listen-'));
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const statusOf = (start: typeof httpRequest, options: RequestOptions) =>
  new Promise<number | undefined>((resolve, reject) => {
    const request = start(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    request.on('error', reject);
    request.end();
  });

test('HTTPS with certificate and key of a file', async () => {
  const file = join(directory, 'cert.pem');
  copyFileSync(CERTIFICATE, file);
  service = await startTestService({
    config: { http: { 'https-enabled': true, 'https-certificate': file } },
  });
  expect(service.url).toMatch(/^https:/);
  const { port } = new URL(service.url);
  const options = { host: '127.0.0.1', port, path: '/ping', rejectUnauthorized: false };
  expect(await statusOf(httpsRequest, options)).toBe(204);
  // A client that would speak the old versions: it is the server that refuses them.
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const old = { minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' } as const;
    await expect(statusOf(httpsRequest, { ...options, ...old })).rejects.toThrow(
      /alert protocol version/,
    );
  }
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const exact = { ...options, minVersion: version, maxVersion: version };
    expect(await statusOf(httpsRequest, exact)).toBe(204);
  }
  await expect(statusOf(httpRequest, options)).rejects.toThrow();
});

test('a certificate is read again when asked; one that is broken changes nothing', async () => {
  const file = join(directory, 'cert.pem');
  copyFileSync(CERTIFICATE, file);
  service = await startTestService({
    config: { http: { 'https-enabled': true, 'https-certificate': file } },
  });
  const { port } = new URL(service.url);
  const subject = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = tlsConnect({
        host: '127.0.0.1',
        port: Number(port),
        rejectUnauthorized: false,
      });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        const { CN } = socket.getPeerCertificate().subject;
        resolve(String(CN));
        socket.destroy();
      });
    });
  expect(await subject()).toBe('localhost');

  copyFileSync(RENEWED, file);
  service.reload();
  expect(await subject()).toBe('renewed');

  writeFileSync(file, 'no certificate');
  expect(() => service?.reload()).toThrow();
  expect(await subject()).toBe('renewed');
});

test('a certificate that cannot be read is named', async () => {
  await expect(
    startTestService({
      config: { http: { 'https-enabled': true, 'https-certificate': join(directory, 'nope') } },
    }),
  ).rejects.toThrow(/http.https-certificate cannot be read/);
});

test('a unix socket, and several addresses with IPv6', async () => {
  const socketPath = join(directory, 'tsdb.sock');
  service = await startTestService({
    config: {
      http: {
        'unix-socket-enabled': true,
        'bind-socket': socketPath,
        'bind-address': '127.0.0.1:0, [::1]:0',
      },
    },
  });
  expect(await statusOf(httpRequest, { socketPath, path: '/ping' })).toBe(204);
  const [ready] = service.logged.filter((line) => line.includes('database service is ready'));
  const { urls } = JSON.parse(ready ?? '') as { urls: string[] };
  expect(urls.map((url) => new URL(url).hostname)).toEqual(['127.0.0.1', '[::1]']);
  for (const url of urls) expect((await fetch(`${url}/ping`)).status).toBe(204);
});

test('a port that is taken is a sentence', async () => {
  service = await startTestService();
  const taken = new URL(service.url).host;
  await expect(startTestService({ config: { http: { 'bind-address': taken } } })).rejects.toThrow(
    `${taken} is already in use: another process listens there. Stop it, or choose another with http.bind-address`,
  );
});
