import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import { Budget, deferred, systemClock } from '@tidemark/core';
import type { Part } from '@tidemark/core';
import { expect, onTestFinished, test } from 'vitest';

import { ClientGone } from './answer.ts';
import { readBody } from './body.ts';

/** Bytes that differ from piece to piece. */
function bytesOf(length: number): Buffer {
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, (_, i) =>
    Math.imul(i, 2654435761),
  );
  return Buffer.from(words.buffer, 0, length);
}

const bodyBudget = (limitBytes = 64 << 20, waitMs = 1000): Budget =>
  new Budget({
    setting: 'http.body-memory-limit',
    limitBytes,
    waitMs,
    clock: systemClock(),
    what: 'bodies',
  });

test('bodies of many pieces arrive as they were sent: with their length, in chunks, packed', async () => {
  const received: Uint8Array[] = [];
  const parts: Part[] = [];
  const budget = bodyBudget();
  const server = createServer((request, response) => {
    readBody({ request, parts }, { maxBytes: 0, budget }).then(
      (body) => {
        received.push(body);
        response.end();
      },
      (error: unknown) => response.destroy(error as Error),
    );
  });
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const send = (body: Uint8Array, headers: Readonly<Record<string, string>>): Promise<void> =>
    new Promise((resolve, reject) => {
      const how = { port, host: '127.0.0.1', method: 'POST', headers, agent: false } as const;
      const sent = sendRequest(how, (response) => response.resume().on('end', resolve));
      sent.on('error', reject).end(body);
    });

  for (const length of [100, 65_536, 200_000, 3_000_001]) {
    const body = bytesOf(length);
    await send(body, { 'content-length': String(length) });
    await send(body, { 'transfer-encoding': 'chunked' });
    await send(gzipSync(body, { level: 1 }), { 'content-encoding': 'gzip' });

    expect(received.map((one) => Buffer.compare(one, body))).toEqual([0, 0, 0]);
    received.length = 0;
    // As it came twice, and packed and unpacked.
    expect(budget.heldBytes).toBeGreaterThanOrEqual(3 * length);
    for (const part of parts.splice(0)) part.release();
    expect(budget.heldBytes).toBe(0);
  }
});

test('memory that a body gets when its client has gone is released', async () => {
  const budget = bodyBudget(100_000, 10_000);
  const held = budget.take(90_000) as Part;
  const ended = deferred<unknown>();
  const server = createServer((request) => {
    const parts: Part[] = [];
    readBody({ request, parts }, { maxBytes: 0, budget })
      .then(ended.resolve, ended.resolve)
      .finally(() => {
        for (const part of parts.splice(0)) part.release();
      });
  });
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sent = sendRequest({ port, host: '127.0.0.1', method: 'POST', agent: false });
  sent.on('error', () => undefined);
  sent.write('m v=1');
  await once(server, 'request');
  await expect.poll(() => budget.waitingCount).toBe(1);

  sent.destroy();
  expect(await ended.promise).toBeInstanceOf(ClientGone);
  held.release();
  await expect.poll(() => budget.waitingCount).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(budget.heldBytes).toBe(0);
});

test.each([
  ['of declared length', { 'content-length': '5' }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a body %s for which there is no memory fails', async (_name, headers) => {
  const ended = deferred<unknown>();
  const allocate = (): never => {
    throw new RangeError('Array buffer allocation failed');
  };
  const server = createServer(async (request) => {
    const budget = bodyBudget();
    await readBody({ request, parts: [] }, { maxBytes: 0, budget }, allocate).catch(ended.resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sent = sendRequest({ port, host: '127.0.0.1', method: 'POST', agent: false, headers });
  onTestFinished(() => {
    sent.destroy();
  });

  sent.on('error', () => undefined).end('m v=1');

  expect(await ended.promise).toBeInstanceOf(RangeError);
});
