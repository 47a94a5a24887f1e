// Memory for request bodies: none is given out before the client is authenticated, and all bodies
// share a budget.
import net from 'node:net';
import { metricValue } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const BODY_BYTES = 600_000;

let engine: TestEngine;
const sockets: net.Socket[] = [];

beforeEach(() => {
  engine = new TestEngine();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await engine.close();
});

/** Promises a body and sends nothing of it; what is answered first. */
function promise(path: string): Promise<string> {
  const { hostname, port } = new URL(engine.url);
  const socket = net.connect(Number(port), hostname);
  sockets.push(socket);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    socket.once('error', reject);
  });
}

async function metric(name: string): Promise<number> {
  const answer = await fetch(`${engine.url}/metrics`);
  return metricValue(await answer.text(), `tidemark_engine_memory_budget_${name}{budget="body"}`);
}

async function until(name: string, value: number): Promise<void> {
  while ((await metric(name)) !== value) await new Promise((resolve) => setImmediate(resolve));
}

test('a stranger is refused before the body comes', async () => {
  await engine.start({ http: { 'auth-enabled': true, 'shared-secret': 'secret' } });

  expect(await promise('/engine/v1/write?db=d&rp=r')).toMatch(/^HTTP\/1\.1 401 /);
  expect(await promise('/engine/v1/tasks')).toMatch(/^HTTP\/1\.1 401 /);
});

test('a body that finds no room waits, and is refused after a while with 503 and the setting', async () => {
  await engine.start({ http: { 'body-memory-limit': 1_000_000, 'body-memory-timeout': '1s' } });
  void promise('/engine/v1/write?db=d&rp=r').catch(() => undefined);
  await until('bytes', BODY_BYTES);

  const answer = await fetch(`${engine.url}/engine/v1/write?db=d&rp=r`, {
    method: 'POST',
    body: `m v=1 1\n${'#'.repeat(BODY_BYTES)}`,
  });

  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.text()).toContain('setting=`http.body-memory-limit`');
  for (const socket of sockets) socket.destroy();
  await until('bytes', 0);
  expect(await metric('refused_total')).toBe(1);
});
