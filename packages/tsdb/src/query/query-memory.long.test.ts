// Memory of all queries in all threads: a small amount for each at first, more in steps for some.
// Queries that need much run side by side as far as the total allows.
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

test('memory grows in steps: large queries run side by side while there is room', async () => {
  const shared = memories({ totalBytes: 512 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const queries = Array.from({ length: 5 }, () => shared.open(holder));
  for (const query of queries.slice(0, 4)) {
    query.holds(30 * MEBIBYTE);
    await query.admit();
  }
  expect(shared.growth.heldBytes).toBe(4 * 40 * MEBIBYTE);

  // The oldest grows to its limit at once, beside the others.
  queries[0]!.holds(250 * MEBIBYTE);
  await queries[0]!.admit();
  expect(shared.growth.heldBytes).toBe((256 + 3 * 40) * MEBIBYTE);
  expect(queries[0]!.isAsking).toBe(false);

  // Younger ones leave room for that, and wait.
  let admitted = '';
  queries[4]!.holds(30 * MEBIBYTE);
  const fifth = queries[4]!.admit().then(() => (admitted += 'fifth'));
  queries[1]!.holds(60 * MEBIBYTE);
  const second = queries[1]!.admit().then(() => (admitted += 'second'));
  await turn();
  expect([admitted, shared.growth.waitingCount]).toEqual(['', 2]);

  queries[0]!.close();
  await second;
  await fifth;
  for (const query of queries) query.close();
  await turn();
  expect(shared.growth.heldBytes).toBe(0);
});

test('more queries than there is memory for all end, whatever the order in which they grow', async () => {
  const shared = memories({ totalBytes: 64 * MEBIBYTE, limitBytes: 32 * MEBIBYTE });
  let seed = 7;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  let most = 0;
  const run = async (): Promise<void> => {
    const query = shared.open(holder);
    for (let held = 1; held <= 31; held += 1 + Math.floor(random() * 6)) {
      query.holds(held * MEBIBYTE);
      await query.admit();
      most = Math.max(most, shared.growth.heldBytes);
      if (random() < 0.5) await turn();
    }
    query.close();
  };

  await Promise.all(Array.from({ length: 100 }, run));

  await turn();
  expect(most).toBeGreaterThan(32 * MEBIBYTE);
  expect(most).toBeLessThanOrEqual(48 * MEBIBYTE);
  expect([shared.growth.heldBytes, shared.growth.counters.refused]).toEqual([0, 0]);
});

test('small queries begin at once while large ones wait for more', async () => {
  const shared = memories({ totalBytes: 64 * MEBIBYTE, limitBytes: 32 * MEBIBYTE });
  const large = Array.from({ length: 3 }, () => shared.open(holder));
  const begun = large.map(() => shared.begin(holder));
  for (const query of large) query.holds(30 * MEBIBYTE);
  const admitted = large.map((query) => query.admit());
  await admitted[0];
  expect(shared.growth.waitingCount).toBe(2);

  // A quarter of the total is for what queries begin with, 2 MiB for each.
  const small = Array.from({ length: 8 - large.length }, () => shared.begin(holder));
  const parts = [...begun, ...small].flatMap((part) => (part instanceof Promise ? [] : part));
  expect(parts).toHaveLength(8);
  expect(shared.begin(holder)).toBeInstanceOf(Promise);

  for (const part of parts) part.release();
  for (const query of large) query.close();
  await Promise.all(admitted);
  await turn();
  expect([shared.growth.heldBytes, shared.growth.waitingCount]).toEqual([0, 0]);
});

test('a query that holds some and cannot get more in time ends with the name of the setting', async () => {
  const clock = new TestClock(0n);
  const limits = { totalBytes: 64 * MEBIBYTE, limitBytes: 32 * MEBIBYTE };
  const shared = new QueryMemories({ ...limits, waitMs: 1000, clock });
  const [first, second] = [shared.open(holder), shared.open(holder)];
  for (const query of [first, second]) {
    query.holds(3 * MEBIBYTE);
    await query.admit();
  }
  second.holds(30 * MEBIBYTE);
  const refused = second.admit();
  void clock.advance(1000);

  await expect(refused).rejects.toThrow('coordinator.total-query-memory-limit');
  second.close();
  first.close();
  expect(shared.growth.heldBytes).toBe(0);
});

test('what the source holds for a query and what its operators hold are one sum', async () => {
  const shared = memories({ totalBytes: 512 * MEBIBYTE, limitBytes: 256 * MEBIBYTE });
  const query = shared.open(holder);
  const sources = [query.openSource(), query.openSource()];
  expect(sources.map(({ grantedBytes }) => grantedBytes)).toEqual([MEBIBYTE, MEBIBYTE / 2]);
  expect(query.isAsking).toBe(false);

  await sources[0]!.ask(100 * MEBIBYTE);
  query.holds(150 * MEBIBYTE);
  await query.admit();
  expect([shared.growth.heldBytes, query.isAsking]).toEqual([256 * MEBIBYTE, false]);
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

  expect(shared.growth.heldBytes).toBe(0);
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

  test('many that need much are all answered', async () => {
    await start('128m');
    const top = (): ReturnType<TestService['query']> =>
      service.query('SELECT top(v, 190000) FROM m', { db: 'd', chunked: 'true' });
    const answers = Array.from({ length: 6 }, top);
    for (const answer of answers) {
      const { status, text } = await answer;
      expect([status, /error.*/.exec(text)?.[0]]).toEqual([200, undefined]);
    }
    expect(await metric('waited_total', 'query_growth')).toBeGreaterThan(0);
    expect(await metric('bytes', 'query_growth')).toBe(0);
    expect(await metric('bytes', 'query_beginning')).toBe(0);
  });

  test('what they hold in the storage thread belongs to the same total', async () => {
    await start('24m', 1);
    const rows = Array.from({ length: 8000 }, (_, i) => `m,a=${i}${'x'.repeat(4000)} v=1 ${i}`);
    for (let at = 0; at < rows.length; at += 2000) {
      await service.write(rows.slice(at, at + 2000).join('\n'), { db: 'd' });
    }
    const text = 'SELECT last(v) FROM m GROUP BY a';
    const parameters = new URLSearchParams({ db: 'd', chunked: 'true', q: text });
    // More than what the system takes of an answer that is not read.
    const first = await fetch(`${service.url}/query?${parameters}`);
    await untilDefined('the memory of the first', async () =>
      (await metric('bytes', 'query_growth')) > 0 ? true : undefined,
    );
    const others = [1, 2].map(() => service.query(text, { db: 'd', chunked: 'true' }));
    await untilDefined('one of the others, which waits', async () =>
      (await metric('waiting', 'query_growth')) === 1 ? true : undefined,
    );

    const answers = [await first.text()];
    for (const other of others) answers.push((await other).text);

    for (const answer of answers) {
      expect(answer.split('"last"').length - 1).toBe(8001);
      expect(answer).not.toContain('error');
    }
    expect(await metric('bytes', 'query_growth')).toBe(0);
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
