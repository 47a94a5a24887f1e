import { parseRfc3339 } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { afterEach, describe, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

const START = parseRfc3339('2022-03-01T10:07:30Z') ?? 0n;

let service: TestService;
let clock: TestClock;
afterEach(() => service.close());

async function start(config: Record<string, Record<string, unknown>> = {}): Promise<void> {
  clock = new TestClock(START);
  service = await startTestService({ clock, config });
}

async function rows(q: string, db: string): Promise<unknown[][] | undefined> {
  const { json } = await service.query(q, { db });
  return json.results[0].series?.[0].values;
}

describe('self-monitoring', () => {
  test('writes counters of every module to a database of its own', async () => {
    await start({ monitor: { 'store-enabled': true } });
    await service.query('CREATE DATABASE d');
    expect(await rows('SHOW RETENTION POLICIES ON _internal', '')).toEqual([
      ['monitor', '168h0m0s', '24h0m0s', 1, true],
    ]);

    clock.advance(10_000);
    const stored = await untilDefined('the first points', () =>
      rows('SELECT last(queryReq), hostname FROM httpd', '_internal'),
    );
    expect(stored).toHaveLength(1);
    expect(stored[0]?.[1]).toBeGreaterThan(0);
    for (const module of [
      'write',
      'queryExecutor',
      'runtime',
      'cq',
      'storage',
      'database',
      'shard',
    ]) {
      expect(await rows(`SELECT * FROM "${module}"`, '_internal')).toBeDefined();
    }
  });
});

describe('retention', () => {
  test('drops shards whose newest point would be too old', async () => {
    await start({ retention: { 'check-interval': '30m' } });
    await service.query('CREATE DATABASE d WITH DURATION 1h SHARD DURATION 1h NAME r');
    await service.write(`m f=1 ${START - 1_000_000_000n}`, { db: 'd' });
    expect(await rows('SHOW SHARDS', 'd')).toHaveLength(1);

    // The shard ends at 11:00, so it goes after 12:00.
    clock.advance(100 * 60_000);
    await service.query('SHOW DATABASES');
    expect(await rows('SHOW SHARDS', 'd')).toHaveLength(1);
    clock.advance(30 * 60_000);
    await untilDefined('the drop', async () =>
      (await rows('SHOW SHARDS', 'd')) === undefined ? true : undefined,
    );
    expect(await rows('SELECT * FROM m', 'd')).toBeUndefined();
  });

  test('points that are too old already are refused', async () => {
    await start();
    await service.query('CREATE DATABASE d WITH DURATION 1h NAME r');
    const answer = await service.write(`m f=1 ${START - 3_600_000_000_001n}`, { db: 'd' });
    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'partial write: points beyond retention policy dropped=1' },
    ]);
  });

  test('points outside of the past and the future limit are refused, the others written', async () => {
    await start();
    await service.query('CREATE DATABASE d WITH FUTURE LIMIT 10m PAST LIMIT 5m NAME r');
    const minute = 60_000_000_000n;
    const lines = [11n, 10n, -5n, -6n].map((m) => `m f=${m} ${START + m * minute}`).join('\n');

    const answer = await service.write(lines, { db: 'd' });
    await service.query('ALTER RETENTION POLICY r ON d FUTURE LIMIT INF');
    const unlimited = await service.write(`m f=11 ${START + 11n * minute}`, { db: 'd' });

    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'partial write: points beyond retention policy dropped=2' },
    ]);
    expect(unlimited.status).toBe(204);
    expect((await rows('SELECT f FROM m', 'd'))?.map(([, f]) => f)).toEqual([-5, 10, 11]);
  });
});

describe('continuous queries', () => {
  const at = (time: string): bigint => parseRfc3339(`2022-03-01T${time}Z`) ?? 0n;

  test('write the windows that have ended, once each', async () => {
    await start();
    await service.query('CREATE DATABASE d');
    await service.query(
      'CREATE CONTINUOUS QUERY c ON d BEGIN SELECT sum(f) INTO sums FROM m GROUP BY time(5m) END',
    );
    await service.write(
      [`m f=1 ${at('10:01:00')}`, `m f=2 ${at('10:04:59')}`, `m f=4 ${at('10:06:00')}`].join('\n'),
      { db: 'd' },
    );

    clock.advance(1000);
    await untilDefined('the first run', () => rows('SELECT sum FROM sums', 'd'));
    expect(await rows('SELECT sum FROM sums', 'd')).toEqual([['2022-03-01T10:00:00Z', 3]]);

    clock.advance(150_000);
    await untilDefined('the second run', async () => {
      const found = await rows('SELECT sum FROM sums', 'd');
      return found?.length === 2 ? found : undefined;
    });
    expect(await rows('SELECT sum FROM sums', 'd')).toEqual([
      ['2022-03-01T10:00:00Z', 3],
      ['2022-03-01T10:05:00Z', 4],
    ]);
    const { json } = await service.get('/debug/vars');
    expect(json.cq.values).toEqual({ queryOk: 2, queryFail: 0 });
  });

  test('leave a point about each run when asked', async () => {
    await start({
      monitor: { 'store-enabled': true },
      continuous_queries: { 'query-stats-enabled': true },
    });
    await service.query('CREATE DATABASE d');
    await service.query(
      'CREATE CONTINUOUS QUERY c ON d BEGIN SELECT sum(f) INTO sums FROM m GROUP BY time(5m) END',
    );
    await service.write(`m f=1 ${at('10:01:00')}`, { db: 'd' });
    clock.advance(1000);
    const q = 'SELECT pointsWrittenOK, cq, db FROM cq_query';
    const found = await untilDefined('the point', () => rows(q, '_internal'));
    expect(found.map((row) => row.slice(1))).toEqual([[1, 'c', 'd']]);
  });

  test('those that find no room among the running queries are tried again', async () => {
    await start({ coordinator: { 'max-concurrent-queries': 2, 'max-filled-windows': 0 } });
    await service.query('CREATE DATABASE d');
    for (const name of ['a', 'b']) {
      await service.query(
        `CREATE CONTINUOUS QUERY ${name} ON d BEGIN SELECT sum(f) INTO ${name} FROM m GROUP BY time(5m) END`,
      );
    }
    await service.write(`m f=1 ${at('10:01:00')}`, { db: 'd' });
    // Nobody reads two billion windows, so that both are there until their clients go.
    const endless = new URLSearchParams({
      db: 'd',
      q: 'SELECT mean(f) FROM m WHERE time < 2000000000s AND time >= 0 GROUP BY time(1s) fill(0)',
      chunked: 'true',
    });
    const clients = [new AbortController(), new AbortController()];
    // Kept, because an answer that is collected as garbage closes its connection.
    const answers: Response[] = [];
    for (const { signal } of clients) {
      answers.push(await fetch(`${service.url}/query?${endless}`, { signal }));
    }
    const cq = async (): Promise<{ queryOk: number; queryFail: number }> =>
      (await service.get('/debug/vars')).json.cq.values;

    clock.advance(1000);
    await untilDefined('both refusals', async () =>
      (await cq()).queryFail === 2 ? true : undefined,
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const client of clients) client.abort();
    await untilDefined('room', async () =>
      (await service.get('/debug/vars')).json.queryExecutor.values.queriesActive === 0
        ? true
        : undefined,
    );
    clock.advance(1000);
    await untilDefined('both runs', async () => ((await cq()).queryOk === 2 ? true : undefined));

    for (const name of ['a', 'b']) {
      expect(await rows(`SELECT sum FROM ${name}`, 'd')).toEqual([['2022-03-01T10:00:00Z', 1]]);
    }
  });

  test('one that fails does not keep others from running', async () => {
    await start();
    await service.query('CREATE DATABASE d');
    await service.query('CREATE DATABASE gone');
    const create = (name: string, target: string) =>
      service.query(
        `CREATE CONTINUOUS QUERY ${name} ON d BEGIN SELECT sum(f) INTO ${target} FROM m GROUP BY time(5m) END`,
      );
    await create('a', 'gone..x');
    await create('b', 'sums');
    await service.query('DROP DATABASE gone');
    await service.write(`m f=1 ${at('10:01:00')}`, { db: 'd' });

    clock.advance(1000);
    await untilDefined('the second query', () => rows('SELECT sum FROM sums', 'd'));
    const { json } = await service.get('/debug/vars');
    expect(json.cq.values).toEqual({ queryOk: 1, queryFail: 1 });
  });
});
