// All request bodies share a memory budget: requests wait for memory in order, and clients that
// hold memory and send nothing lose it to waiting ones.
import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { metricValue, TestClock } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

const BODY_BYTES = 600_000;
const LIMIT_BYTES = 1_000_000;

let service: TestService;
let clock: TestClock;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service.close();
});

async function start(timeout: string): Promise<void> {
  clock = new TestClock(0n);
  service = await startTestService({
    clock,
    config: { http: { 'body-memory-limit': LIMIT_BYTES, 'body-memory-timeout': timeout } },
  });
  await service.query('CREATE DATABASE d');
}

async function metric(name: string): Promise<number> {
  const { text } = await service.get('/metrics');
  return metricValue(text, `tidemark_tsdb_memory_budget_${name}{budget="body"}`);
}

/** Promises a body and sends the given part of it. The answer, when the connection is closed. */
async function stalled(sentBytes: number, head = `Content-Length: ${BODY_BYTES}`): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.write(
    `POST /write?db=d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head}\r\n\r\n`,
  );
  socket.write(Buffer.alloc(sentBytes, '#'));
  let answer = '';
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

const writes = (): ReturnType<TestService['write']> =>
  service.write(`m f=1 1\n${'#'.repeat(BODY_BYTES)}`, { db: 'd' });

async function until(name: string, value: number): Promise<void> {
  await untilDefined(`${name} ${value}`, async () =>
    (await metric(name)) === value ? true : undefined,
  );
}

test('a body that finds no room is refused after a while: 503, when to come again, the setting', async () => {
  await start('3s');
  void stalled(1000);
  await until('bytes', BODY_BYTES);

  const refused = writes();
  await until('waiting', 1);
  clock.advance(3000);
  const answer = await refused;

  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(answer.json.error).toContain('setting=`http.body-memory-limit`');
  expect(await metric('refused_total')).toBe(1);
});

test('a client that sends nothing more is cut off for one that waits', async () => {
  await start('60s');
  const slow = stalled(500_000);
  await until('bytes', BODY_BYTES);

  const waiting = writes();
  await until('waiting', 1);
  for (let second = 0; second < 7; second++) {
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect((await waiting).status).toBe(204);
  expect(await slow).toMatch(/^HTTP\/1\.1 503 .*too slow while other bodies of requests waited/s);
  expect(await metric('cut_off_total')).toBe(1);
  expect(await metric('bytes')).toBe(0);
});

test('a body of unknown length takes room as it comes, and gives it back when its client goes', async () => {
  await start('60s');
  // The end of the head belongs to the chunk: it is complete, and the next one does not come.
  const chunk = `${(300_000).toString(16)}\r\n${'#'.repeat(300_000 - '\r\n\r\n'.length)}`;
  void stalled(0, `Transfer-Encoding: chunked\r\n\r\n${chunk}`);
  await until('bytes', 524_288);

  for (const socket of sockets) socket.destroy();

  await until('bytes', 0);
});
