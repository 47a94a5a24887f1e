// Memory of all queries in all threads: a small amount for each at first, more for some; queries
// that need much run one after another.
import { connect } from 'node:net';

import type { Holder } from '@tidemark/core';
import { HeapWatch } from '@tidemark/process';
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

test('a query that needs much waits until another that does has ended', async () => {
  const shared = memories({ totalBytes: 512 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const [first, second, third] = [1, 2, 3].map(() => shared.open(holder));
  for (const each of [first, second, third]) each!.holds(30 * MEBIBYTE);
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

test('queries that need some of it run at once, and beside one that needs much', async () => {
  const shared = memories({ totalBytes: 512 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const queries = Array.from({ length: 9 }, () => shared.open(holder));
  for (const each of queries.slice(1)) {
    each.holds(3 * MEBIBYTE);
    await each.admit();
  }
  queries[0]!.holds(30 * MEBIBYTE);
  await queries[0]!.admit();
  expect(shared.medium.heldBytes).toBe(128 * MEBIBYTE);

  // One that needs more after all gives back what it had.
  queries[0]!.close();
  queries[1]!.holds(30 * MEBIBYTE);
  await queries[1]!.admit();
  expect([shared.medium.heldBytes, shared.large.heldBytes]).toEqual([
    112 * MEBIBYTE,
    256 * MEBIBYTE,
  ]);
});

test('what the source holds for a query and what its operators hold are one sum', async () => {
  const shared = memories({ totalBytes: 512 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const query = shared.open(holder);
  const sources = [query.openSource(), query.openSource()];
  expect(sources.map(({ grantedBytes }) => grantedBytes)).toEqual([MEBIBYTE, MEBIBYTE / 2]);
  expect(query.isAsking).toBe(false);

  await sources[0]!.ask(100 * MEBIBYTE);
  query.holds(150 * MEBIBYTE);
  expect([shared.large.heldBytes, query.isAsking]).toEqual([256 * MEBIBYTE, false]);
  await sources[1]!.ask(150 * MEBIBYTE);
  sources[0]!.release();
  sources[0]!.release();
  expect([sources[0]!.grantedBytes, sources[1]!.grantedBytes]).toEqual([0, 151 * MEBIBYTE]);
  query.close();
});

test('garbage of what another thread sends is collected before it is much', async () => {
  let [used, most] = [0, 0];
  const collect = (): void => void (used = 0);
  const heap = new HeapWatch(64 * MEBIBYTE, { usedBytes: () => used, collect, release: collect });
  const limits = { totalBytes: 512 * MEBIBYTE, limitBytes: 256 * MEBIBYTE };
  const shared = new QueryMemories({ ...limits, waitMs: 1, clock: new TestClock(0n), heap });
  const query = shared.open(holder);

  for (let batch = 0; batch < 1000; batch++) {
    used += MEBIBYTE;
    most = Math.max(most, used);
    query.received(MEBIBYTE / 4);
  }
  query.close();

  expect(most).toBeLessThan(100 * MEBIBYTE);
});

test('a query that ends while it waits leaves nothing behind', async () => {
  const shared = memories({ totalBytes: 400 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const [first, second] = [shared.open(holder), shared.open(holder)];
  for (const each of [first, second]) each.holds(30 * MEBIBYTE);
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
  { totalBytes: 400, limitBytes: 1000, wanted: 200 },
  { totalBytes: 400, limitBytes: 0, wanted: 200 },
])('one query never holds more than is there: %o', ({ wanted, ...options }) => {
  expect(memories(options).limitBytes).toBe(wanted);
});

describe('of a service', () => {
  let service: TestService;
  let clock: TestClock;

  async function start(total: string, rowCount = 200_000): Promise<void> {
    clock = new TestClock(0n);
    service = await startTestService({
      clock,
      config: {
        coordinator: { 'total-query-memory-limit': total, 'query-memory-timeout': '20s' },
      },
    });
    await service.query('CREATE DATABASE d');
    const rows = Array.from({ length: rowCount }, (_, i) => `m v=${(i * 7919) % 1000} ${i}`);
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

  test('what they hold in the storage thread belongs to the same total', async () => {
    await start('64m', 1);
    const rows = Array.from({ length: 8000 }, (_, i) => `m,a=${i}${'x'.repeat(4000)} v=1 ${i}`);
    for (let at = 0; at < rows.length; at += 2000) {
      await service.write(rows.slice(at, at + 2000).join('\n'), { db: 'd' });
    }
    const text = 'SELECT last(v) FROM m GROUP BY a';
    const parameters = new URLSearchParams({ db: 'd', chunked: 'true', q: text });
    // More than what the system takes of an answer that is not read.
    const first = await fetch(`${service.url}/query?${parameters}`);
    await untilDefined('the memory of the first', async () =>
      (await metric('bytes', 'query_medium')) > 0 ? true : undefined,
    );
    const second = service.query(text, { db: 'd', chunked: 'true' });
    await untilDefined('the second, which waits', async () =>
      (await metric('waiting', 'query_medium')) === 1 ? true : undefined,
    );

    const answers = [await first.text(), (await second).text];

    for (const answer of answers) {
      expect(answer.split('"last"').length - 1).toBe(8001);
      expect(answer).not.toContain('error');
    }
    expect(await metric('bytes', 'query_medium')).toBe(0);
  });

  test('queries wait for a beginning too; those about the catalog and running queries do not', async () => {
    await start('32m', 10_000);
    // Little to hold, much to send.
    const some = `SELECT v AS "${'x'.repeat(500)}" FROM m WHERE time < 10000`;
    const many = Array.from({ length: 6 }, () => some).join(';');
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
