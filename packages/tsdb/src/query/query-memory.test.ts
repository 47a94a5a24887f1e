// Memory of all queries: a small amount for each at first; queries that need more run one after
// another.
import { connect } from 'node:net';

import type { Holder } from '@tidemark/core';
import { metricValue, TestClock } from '@tidemark/testkit';
import { afterEach, describe, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { QueryMemories } from './query-memory.ts';

const MEBIBYTE = 1 << 20;
const holder: Holder = { progress: () => undefined, revoke: () => undefined };

function memories(options: { totalBytes: number; limitBytes: number }): QueryMemories {
  return new QueryMemories({ ...options, waitMs: 1000, clock: new TestClock(0n) });
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a query that needs more than it began with waits until another that does has ended', async () => {
  const shared = memories({ totalBytes: 400 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const [first, second, third] = [1, 2, 3].map(() => shared.open(holder));
  for (const each of [first, second, third]) each!.holds(3 * MEBIBYTE);
  await first!.admit();
  await first!.admit();
  let admitted = '';
  const waiting = second!.admit().then(() => (admitted += 'second'));
  const given = third!.admit().then(() => (admitted += 'third'));
  await turn();
  expect([shared.large.heldBytes, admitted]).toEqual([256 * MEBIBYTE, '']);

  first!.close();
  await waiting;
  expect([second!.isAsking, third!.isAsking]).toEqual([false, true]);
  second!.close();
  second!.close();
  await given;
  third!.close();
  await turn();

  expect(shared.large.heldBytes).toBe(0);
});

test('a query that ends while it waits leaves nothing behind', async () => {
  const shared = memories({ totalBytes: 400 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const [first, second] = [shared.open(holder), shared.open(holder)];
  await first.admit();
  const waiting = second.admit();
  second.close();
  first.close();
  await waiting;
  await turn();

  expect(shared.large.heldBytes).toBe(0);
});

test.each([
  { totalBytes: 0, limitBytes: 0, wanted: 0 },
  { totalBytes: 0, limitBytes: 7, wanted: 7 },
  { totalBytes: 400, limitBytes: 7, wanted: 7 },
  { totalBytes: 400, limitBytes: 1000, wanted: 300 },
  { totalBytes: 400, limitBytes: 0, wanted: 300 },
])('one query never holds more than is there: %o', ({ wanted, ...options }) => {
  expect(memories(options).limitBytes).toBe(wanted);
});

describe('of a service', () => {
  let service: TestService;
  let clock: TestClock;

  async function start(total: string): Promise<void> {
    clock = new TestClock(0n);
    service = await startTestService({
      clock,
      config: {
        coordinator: { 'total-query-memory-limit': total, 'query-memory-timeout': '20s' },
      },
    });
    await service.query('CREATE DATABASE d');
    const rows = Array.from({ length: 200_000 }, (_, i) => `m v=${(i * 7919) % 1000} ${i}`);
    for (let at = 0; at < rows.length; at += 50_000) {
      await service.write(rows.slice(at, at + 50_000).join('\n'), { db: 'd' });
    }
  }
  afterEach(() => service.close());

  async function metric(name: string, budget: string): Promise<number> {
    const { text } = await service.get('/metrics');
    return metricValue(text, `tidemark_tsdb_memory_budget_${name}{budget="${budget}"}`);
  }

  test('many that need much are all answered, one after the other', async () => {
    await start('128m');
    const top = (): ReturnType<TestService['query']> =>
      service.query('SELECT top(v, 190000) FROM m', { db: 'd', chunked: 'true' });
    const answers = Array.from({ length: 6 }, top);
    for (const answer of answers) {
      const { status, text } = await answer;
      expect([status, /error.*/.exec(text)?.[0]]).toEqual([200, undefined]);
    }
    expect(await metric('waited_total', 'query_large')).toBeGreaterThan(0);
    expect(await metric('bytes', 'query_large')).toBe(0);
    expect(await metric('bytes', 'query_beginning')).toBe(0);
  });

  test('queries wait for a beginning too; those about the catalog and running queries do not', async () => {
    await start('32m');
    // Little to hold, much to send.
    const many = `SELECT v AS "${'x'.repeat(500)}" FROM m WHERE time < 60000`;
    const path = `/query?${new URLSearchParams({ db: 'd', chunked: '1', q: many })}`;
    const { hostname, port } = new URL(service.url);
    const sockets = Array.from({ length: 4 }, () => connect(Number(port), hostname));
    // Nobody reads the answers.
    for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await untilDefined('the unread queries', async () =>
      (await metric('bytes', 'query_beginning')) === 8 * MEBIBYTE ? true : undefined,
    );

    const refused = service.query('SELECT last(v) FROM m', { db: 'd' });
    await untilDefined('the query that waits', async () =>
      (await metric('waiting', 'query_beginning')) === 1 ? true : undefined,
    );
    expect((await service.query('SHOW QUERIES')).text).toContain('SELECT');
    expect((await service.query('SHOW DATABASES')).status).toBe(200);
    const served = service.query('SELECT first(v) FROM m', { db: 'd' });
    for (let second = 0; second < 7; second++) {
      clock.advance(1000);
      await turn();
    }

    // Those that do not read were cut off.
    expect((await refused).status).toBe(200);
    expect((await served).status).toBe(200);
    expect(await metric('cut_off_total', 'query_beginning')).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
  });
});
