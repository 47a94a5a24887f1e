// A server that does not listen: another listener gives it the requests, and their connections stay
// open when it closes.
import type { Deferred } from '@tidemark/core';
import { Budget, deferred, RequestMetrics, systemClock } from '@tidemark/core';
import type { BorderGuard } from '@tidemark/process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { Audit } from './audit.ts';
import { HttpServer } from './server.ts';

const directory = mkdtempSync(join(tmpdir(), 'given-requests-'));
const clock = systemClock();
const log = (): void => undefined;

let server: HttpServer;
let arrived: Deferred;
let goesOn: Deferred;
const listener = createServer((request, response) => server.answer(request, response));
let url: string;

beforeEach(async () => {
  arrived = deferred();
  goesOn = deferred();
  const bodies = { setting: 'a limit', limitBytes: 1_000_000, waitMs: 1000, what: 'bodies' };
  server = new HttpServer({
    clock,
    bodyBytesMax: 1_000_000,
    bodies: new Budget({ ...bodies, clock }),
    requestTimeoutMs: 0,
    hasCompatiblePaths: true,
    isLogging: false,
    metrics: new RequestMetrics('test', { queries: '' }),
    log,
    redact: (text) => text,
    authorize: () => undefined,
    audit: new Audit({ directory, keepBytes: 0, clock, log }),
    border: {
      refusal: () => undefined,
      corsHeaders: () => ({}),
      clientAddress: () => '127.0.0.1',
    } as unknown as BorderGuard,
    realm: 'test',
  });
  server.on('POST', '/write', async () => {
    arrived.resolve();
    await goesOn.promise;
    return { status: 204 };
  });
  server.on('GET', '/ping', () => {
    arrived.resolve();
    const stream = new Readable({ read: () => undefined });
    return Promise.resolve({ status: 200, contentType: 'text/plain', stream });
  });
  await server.ready();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await server.close(0);
  listener.closeAllConnections();
  await new Promise((resolve) => listener.close(resolve));
});

afterAll(() => rmSync(directory, { recursive: true }));

const write = (): Promise<Response> =>
  fetch(`${url}/engine/v1/write`, { method: 'POST', body: 'm v=1' });

test('what is in progress is answered before it closes, also when nothing was for a while', async () => {
  goesOn.resolve();
  expect((await write()).status).toBe(204);
  goesOn = deferred();
  arrived = deferred();
  const answered = write();
  await arrived.promise;

  const closing = server.close(10_000);
  goesOn.resolve();

  expect((await answered).status).toBe(204);
  await closing;
});

test.each(['a listener of its own', 'another listener'])(
  'what takes too long gets the reason through %s',
  async (through) => {
    if (through !== 'another listener') url = await server.listen('127.0.0.1', 0);
    const answered = write();
    await arrived.promise;

    await server.close(0);

    expect(await (await answered).json()).toEqual({ error: 'the engine stops' });
    expect((await answered).status).toBe(503);
    goesOn.resolve();
  },
);

test('streams end', async () => {
  const stream = await fetch(`${url}/engine/v1/ping`);

  await server.close(10_000);

  await expect(stream.text()).rejects.toThrow('terminated');
});
