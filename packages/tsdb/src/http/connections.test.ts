// Connections: their number, slow clients, and keep-alive.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function start(http: Readonly<Record<string, unknown>>): Promise<void> {
  service = await startTestService({ config: { http } });
  onTestFinished(() => service.close());
}

async function open(): Promise<Socket> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  sockets.push(socket);
  // Being cut off shows as a reset.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('latin1');
}

test('more connections than allowed are closed; the others go on, and a free place is given again', async () => {
  await start({ 'max-connection-limit': 2 });
  const ping = 'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const [first, second] = [await open(), await open()];
  expect(await ask(first, ping)).toMatch(/^HTTP\/1\.1 204/);
  const third = await open();
  await once(third.resume(), 'close');
  expect(await ask(second, ping)).toMatch(/^HTTP\/1\.1 204/);

  first.destroy();
  // The service learns of it after the next turn of its loop; whoever comes too early is closed and
  // tries again.
  for (;;) {
    const socket = await open();
    const answer = await Promise.race([
      ask(socket, ping),
      once(socket, 'close').then(() => undefined),
    ]);
    if (answer === undefined) continue;
    expect(answer).toMatch(/^HTTP\/1\.1 204/);
    return;
  }
});

test('a body that does not come is cut off with 408', async () => {
  await start({ 'request-timeout': '100ms' });
  await service.query('CREATE DATABASE d');
  const socket = await open();
  const answer = await ask(
    socket,
    'POST /write?db=d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\nm f',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(answer).toMatch(/\r\n\r\n\{"error":"the request did not arrive in time"\}\n$/);
  await once(socket, 'close');
});

describe('without limits', () => {
  beforeAll(async () => {
    service = await startTestService();
    await service.query('CREATE DATABASE d');
  });
  afterAll(() => service.close());

  test('a connection is kept after 204, 400, 404 and 405, and serves the next request', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const send = async (method: string, path: string, body = ''): Promise<number | undefined> => {
      const sent = request(`${service.url}${path}`, { method, agent });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      ports.add(sent.socket?.localPort);
      answer.resume();
      await once(answer, 'end');
      return answer.statusCode;
    };

    const statuses = [
      await send('POST', '/write?db=d', 'm f=1 1'),
      await send('POST', '/write?db=d', 'bad'),
      await send('POST', '/write?db=absent', 'm f=1 1'),
      await send('GET', '/write?db=d'),
      await send('GET', '/query?q=SHOW+DATABASES'),
      await send('HEAD', '/ping'),
      await send('POST', '/write?db=d', 'm f=2 2'),
    ];

    expect(statuses).toEqual([204, 400, 404, 405, 200, 204, 204]);
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  test('HEAD has the status of GET where there is GET, 405 elsewhere, and never a body', async () => {
    for (const [path, status] of [
      ['/ping', 204],
      ['/status', 204],
      ['/health', 200],
      ['/metrics', 200],
      ['/debug/vars', 200],
      ['/query?q=SHOW+DATABASES', 405],
      ['/write?db=d', 405],
      ['/nope', 404],
    ] as const) {
      const socket = await open();
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
      socket.write(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      await once(socket, 'close');
      expect([path, answer.slice(9, 12)]).toEqual([path, String(status)]);
      expect(answer.slice(answer.indexOf('\r\n\r\n') + 4), path).toBe('');
    }
  });
});
