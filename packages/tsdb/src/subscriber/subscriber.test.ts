import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { TestServer } from '@tidemark/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { datagrams } from './transports.ts';

type Received = { readonly url: string; readonly body: string; readonly auth: string | undefined };

/** An HTTP destination that answers what it is told. */
async function receiver() {
  const received: Received[] = [];
  const state = { status: 204 };
  const server = new TestServer(({ path, headers, body }) => {
    received.push({ url: path, body, auth: headers.authorization });
    return { status: state.status };
  });
  await server.open();
  return { received, state, url: server.url, close: () => server.close() };
}

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

let first: Awaited<ReturnType<typeof receiver>>;
let second: Awaited<ReturnType<typeof receiver>>;
beforeEach(async () => {
  [first, second] = await Promise.all([receiver(), receiver()]);
  await service.query('CREATE DATABASE s');
});
afterEach(async () => {
  await service.query('DROP DATABASE s');
  await first.close();
  await second.close();
});

const bodyOf = (all: readonly Received[]): string => all.map(({ body }) => body).join('');

async function subscribe(mode: string, ...destinations: string[]): Promise<void> {
  const list = destinations.map((url) => `'${url}'`).join(', ');
  const answer = await service.query(
    `CREATE SUBSCRIPTION sub ON s.autogen DESTINATIONS ${mode} ${list}`,
  );
  expect(answer.text).toBe('{"results":[{"statement_id":0}]}\n');
}

describe('deliveries', () => {
  test('ALL sends every write to every destination, with times in nanoseconds', async () => {
    await subscribe('ALL', first.url, `${second.url.replace('//', '//u:p%40w@')}`);
    await service.write('m,t=a f=1 1\nm,t=b f=2i 2', { db: 's', precision: 's' });

    for (const { received } of [first, second]) {
      await untilDefined('a delivery', () => received[0]);
      expect(received[0]?.body).toBe('m,t=a f=1 1000000000\nm,t=b f=2i 2000000000\n');
      expect(received[0]?.url).toBe('/write?consistency=&db=s&precision=ns&rp=autogen');
    }
    expect(second.received[0]?.auth).toBe(`Basic ${Buffer.from('u:p@w').toString('base64')}`);
    expect(first.received[0]?.auth).toBeUndefined();
  });

  test('lines without a time get the time that was stored', async () => {
    await subscribe('ALL', first.url);
    await service.write('m f=1', { db: 's' });
    const { body } = await untilDefined('a delivery', () => first.received[0]);
    const { json } = await service.query('SELECT f FROM m', { db: 's', epoch: 'ns' });
    expect(service.logged.length).toBeGreaterThan(0);
    expect(body).toMatch(/^m f=1 \d{19}\n$/);
    expect(json.results[0].series[0].values[0][0]).toBe(Number(body.slice(6)));
  });

  test('only the accepted lines of a partial write are sent', async () => {
    await subscribe('ALL', first.url);
    await service.write('m f=1 1\nbad\nm f=2 2', { db: 's' });
    await untilDefined('a delivery', () => first.received[0]);
    expect(bodyOf(first.received)).toBe('m f=1 1\nm f=2 2\n');
  });

  test('ANY shares writes among destinations', async () => {
    await subscribe('ANY', first.url, second.url);
    for (let i = 1; i <= 4; i++) {
      await service.write(`m f=${i} ${i}`, { db: 's' });
      await untilDefined('a delivery', () =>
        first.received.length + second.received.length === i ? true : undefined,
      );
    }
    expect([first.received.length, second.received.length]).toEqual([2, 2]);
  });

  test('writes keep their order however many wait', async () => {
    await subscribe('ALL', first.url);
    const lines = Array.from({ length: 30 }, (_, i) => `m f=${i} ${i}`);
    for (const line of lines) await service.write(line, { db: 's' });
    const got = await untilDefined('all deliveries', () => {
      const all = first.received.flatMap(({ body }) => body.trim().split('\n'));
      return all.length === lines.length ? all : undefined;
    });
    expect(got).toEqual(lines);
  });

  test('INTO is sent too', async () => {
    await service.write('m f=1 1', { db: 's' });
    await subscribe('ALL', first.url);
    await service.query('SELECT f INTO copy FROM m', { db: 's' });
    await untilDefined('a delivery', () => first.received[0]);
    expect(bodyOf(first.received)).toBe('copy f=1 1\n');
  });

  test('a refusal is counted and not repeated', async () => {
    first.state.status = 400;
    await subscribe('ALL', first.url);
    await service.write('m f=1 1', { db: 's' });
    const values = await untilDefined('the counter', async () => {
      const { json } = await service.get('/debug/vars');
      const entry = Object.values(
        json as Record<
          string,
          { name?: string; tags?: { name?: string }; values?: Record<string, number> }
        >,
      ).find((module) => module.name === 'subscriber' && module.tags?.name === 'sub');
      return entry?.values?.['writeFailures'] === 1 ? entry.values : undefined;
    });
    expect(values).toMatchObject({ pointsWritten: 0, writeFailures: 1, batchesDropped: 0 });
    expect(first.received).toHaveLength(1);
  });

  test('a destination that fails for a moment gets the write later', async () => {
    first.state.status = 503;
    await subscribe('ALL', first.url);
    await service.write('m f=1 1', { db: 's' });
    await untilDefined('the first attempt', () => first.received[0]);
    first.state.status = 204;
    await untilDefined('the second attempt', () => first.received[1]);
    expect(first.received[1]?.body).toBe('m f=1 1');
  });

  test('ANY goes on with the next destination when one is away or fails', async () => {
    first.state.status = 503;
    const gone = await receiver();
    gone.close();
    await subscribe('ANY', first.url, gone.url, second.url);
    for (let i = 1; i <= 3; i++) await service.write(`m f=${i} ${i}`, { db: 's' });

    const lines = await untilDefined('all writes at the one that works', () => {
      const all = second.received.flatMap(({ body }) => body.trim().split('\n'));
      return all.length === 3 ? all : undefined;
    });
    expect(lines.toSorted()).toEqual(['m f=1 1', 'm f=2 2', 'm f=3 3']);
  });

  test('a queue that is full drops batches and counts them; writers do not wait', async () => {
    const narrow = await startTestService({ config: { subscriber: { 'write-buffer-size': 3 } } });
    const silent = new TestServer(() => new Promise(() => undefined));
    await silent.open();
    await narrow.query('CREATE DATABASE s');
    await narrow.query(`CREATE SUBSCRIPTION sub ON s.autogen DESTINATIONS ALL '${silent.url}'`);
    await narrow.write('m f=0 0', { db: 's' });
    await untilDefined('the first delivery', () => silent.requests[0]);

    for (let i = 1; i <= 10; i++) {
      expect((await narrow.write(`m f=${i} ${i}`, { db: 's' })).status).toBe(204);
    }
    const { json } = await narrow.get('/debug/vars');
    type Module = { name?: string; tags?: { name?: string }; values?: Record<string, number> };
    const modules = Object.values(json as Record<string, Module>);
    const counters = modules.find(
      ({ name, tags }) => name === 'subscriber' && tags?.name === 'sub',
    );
    expect(counters?.values).toMatchObject({ queuedBatches: 3, batchesDropped: 7 });
    expect(json.write.values).toMatchObject({ subWriteOk: 4, subWriteDrop: 7 });
    await silent.close();
    await narrow.close();
  });

  test('HTTPS verifies the certificate unless told otherwise, or told whom to trust', async () => {
    const pem = readFileSync(new URL('../testdata/localhost.pem', import.meta.url), 'utf8');
    const bodies: string[] = [];
    const secure = createHttpsServer({ cert: pem, key: pem }, (request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
      request.on('end', () => response.writeHead(204).end());
    });
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const { port } = secure.address() as AddressInfo;
    const file = fileURLToPath(new URL('../testdata/localhost.pem', import.meta.url));
    const deliver = async (subscriber: Record<string, unknown>): Promise<string> => {
      const sender = await startTestService({ config: { subscriber } });
      await sender.query('CREATE DATABASE s');
      await sender.query(
        `CREATE SUBSCRIPTION sub ON s.autogen DESTINATIONS ALL 'https://localhost:${port}'`,
      );
      bodies.length = 0;
      await sender.write('m f=1 1', { db: 's' });
      const outcome = await untilDefined('an outcome', () => {
        if (bodies.length > 0) return 'delivered';
        return sender.logged.find((line) => line.includes('could not be delivered'));
      });
      await sender.close();
      return outcome;
    };

    expect(await deliver({ 'ca-certs': file })).toBe('delivered');
    expect(await deliver({ 'insecure-skip-verify': true })).toBe('delivered');
    expect(await deliver({})).toContain('self-signed certificate');
    secure.closeAllConnections();
    secure.close();
  });

  test('UDP gets datagrams of whole lines', async () => {
    const socket = createSocket('udp4');
    const received: string[] = [];
    socket.on('message', (message) => received.push(message.toString()));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    await subscribe('ALL', `udp://127.0.0.1:${socket.address().port}`);

    const lines = Array.from({ length: 300 }, (_, i) => `m f=${i} ${i}`);
    await service.write(lines.join('\n'), { db: 's' });

    await untilDefined('all lines', () =>
      received.join('').trim().split('\n').length === 300 ? true : undefined,
    );
    expect(received.length).toBeGreaterThan(1);
    for (const datagram of received.slice(0, -1)) expect(datagram).toMatch(/\n$/);
    socket.close();
  });

  test('DROP SUBSCRIPTION ends it', async () => {
    await subscribe('ALL', first.url);
    await service.query('DROP SUBSCRIPTION sub ON s.autogen');
    await service.write('m f=1 1', { db: 's' });
    await service.query('SHOW DATABASES');
    expect(first.received).toEqual([]);
    expect((await service.query('SHOW SUBSCRIPTIONS')).text).toBe(
      '{"results":[{"statement_id":0}]}\n',
    );
  });
});

test('datagrams never cut a line, not even a long one', () => {
  const long = `m f="${'x'.repeat(3000)}" 1\n`;
  const bytes = new TextEncoder().encode(`a f=1 1\n${long}b f=1 1`);
  expect([...datagrams(bytes)].map((d) => new TextDecoder().decode(d))).toEqual([
    'a f=1 1\n',
    long,
    'b f=1 1',
  ]);
});
