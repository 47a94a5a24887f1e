// Rights of continuous queries: who may create one, as which user it runs, and who can see it.
import { parseRfc3339 } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

const NOW = parseRfc3339('2022-03-01T10:00:00Z') ?? 0n;

let service: TestService;
let clock: TestClock;
const basic = (user: string): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(`${user}:pw`).toString('base64')}`,
});
const ask = (user: string, q: string, database = 'd') =>
  service.query(q, { db: database }, { headers: basic(user) });

beforeEach(async () => {
  clock = new TestClock(NOW);
  service = await startTestService({
    clock,
    config: { http: { 'auth-enabled': true }, coordinator: { 'max-filled-windows': 0 } },
  });
  await service.query("CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES");
  const made = await ask(
    'root',
    `CREATE DATABASE d; CREATE DATABASE e; CREATE DATABASE hidden;
     CREATE USER ana WITH PASSWORD 'pw'; GRANT ALL ON d TO ana; GRANT READ ON e TO ana;
     CREATE USER ben WITH PASSWORD 'pw'; GRANT READ ON d TO ben`,
  );
  expect(made.text).not.toContain('error');
});
afterEach(() => service.close());

const create = (user: string, name: string, into: string, from = 'm') =>
  ask(
    user,
    `CREATE CONTINUOUS QUERY ${name} ON d BEGIN SELECT sum(f) INTO ${into} FROM ${from} GROUP BY time(1m) END`,
  );

/** Lets a minute pass with a point in it; resolves when its continuous queries have ended. */
async function runMinute(): Promise<void> {
  const time = clock.now() + 1_000_000_000n;
  const headers = basic('root');
  await service.write(`m f=1 ${time}`, { db: 'd' }, { headers });
  await service.write(`m f=1 ${time}`, { db: 'hidden' }, { headers });
  const ended = async (): Promise<number> => {
    const { json } = await ask('root', "SHOW STATS FOR 'cq'");
    const { columns, values } = json.results[0].series[0];
    const count = (name: string): number => values[0][columns.indexOf(name)];
    return count('queryOk') + count('queryFail');
  };
  const before = await ended();
  clock.advance(60_000);
  await untilDefined('a run', async () => {
    clock.advance(1000);
    return (await ended()) > before ? true : undefined;
  });
}

async function sums(database = 'd'): Promise<number> {
  const { json } = await ask('root', 'SELECT count(sum) FROM sums', database);
  return json.results[0].series?.[0].values[0][1] ?? 0;
}

test('a continuous query is made by whoever may read its sources and write its target', async () => {
  const refusals = await Promise.all([
    create('ben', 'a', 'sums'),
    create('ana', 'b', 'e.autogen.sums'),
    create('ana', 'c', 'sums', 'hidden.autogen.m'),
  ]);
  expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(refusals.map(({ json }) => /requires .*$/.exec(json.error)?.[0])).toEqual([
    'requires WRITE on d',
    'requires WRITE on e',
    'requires READ on hidden',
  ]);
  expect((await create('ana', 'd', 'sums')).status).toBe(200);
  expect((await create('root', 'e', 'e.autogen.sums', 'hidden.autogen.m')).status).toBe(200);
});

test.each([
  ['REVOKE WRITE ON d FROM ana', 'ana, who created the continuous query, does not have WRITE on d'],
  ['REVOKE READ ON d FROM ana', 'ana, who created the continuous query, does not have READ on d'],
  [
    "DROP USER ana; CREATE USER ana WITH PASSWORD 'pw'; GRANT ALL ON d TO ana",
    'the user who created the continuous query was dropped',
  ],
])('after %s it runs no more', async (statements, reason) => {
  await create('ana', 'mine', 'sums');
  await runMinute();
  expect(await sums()).toBe(1);

  expect((await ask('root', statements)).text).not.toContain('error');
  await runMinute();

  expect(await sums()).toBe(1);
  expect(service.logged.join('')).toContain(reason);
  const by = { method: 'POST', headers: basic('root') };
  const range = { start: '2022-03-01T10:00:00Z', end: '2022-03-01T10:05:00Z' };
  const body = JSON.stringify({ database: 'd', name: 'mine', ...range });
  const byHand = await service.get('/api/continuous-queries/run', { ...by, body });
  expect(byHand.text).toContain(`{"error":"${reason}"}`);
});

test('a query that an admin created continues when that user is gone', async () => {
  await ask('root', "CREATE USER other WITH PASSWORD 'pw' WITH ALL PRIVILEGES");
  await create('other', 'of_admin', 'sums', 'hidden.autogen.m');
  await ask('root', 'DROP USER other');
  await runMinute();
  expect(await sums()).toBe(1);
});

test('SHOW CONTINUOUS QUERIES lists what names only databases that one may read', async () => {
  await create('root', 'plain', 'sums');
  await create('root', 'from_hidden', 'sums', 'hidden.autogen.m');
  await create('root', 'deep', 'sums', '(SELECT f FROM hidden.autogen.m)');
  await create('root', 'into_hidden', 'hidden.autogen.sums');
  const shown = async (user: string) => {
    const { json } = await ask(user, 'SHOW CONTINUOUS QUERIES');
    const all: { name: string; values?: [string, string][] }[] = json.results[0].series;
    return all.map(({ name, values = [] }) => [name, ...values.map(([query]) => query)]);
  };
  expect(await shown('ben')).toEqual([['d', 'plain']]);
  expect(await shown('ana')).toEqual([['d', 'plain'], ['e']]);
  expect(await shown('root')).toEqual([
    ['d', 'plain', 'from_hidden', 'deep', 'into_hidden'],
    ['e'],
    ['hidden'],
  ]);
});

test('SHOW QUERIES lists what names only databases that one may read', async () => {
  const endless = (from: string): string =>
    `SELECT mean(f) FROM ${from} WHERE time >= 0 AND time < 2000000000s GROUP BY time(1s) fill(0)`;
  const open = new AbortController();
  const start = (q: string, database: string) =>
    fetch(
      `${service.url}/query?${new URLSearchParams({ db: database, q, chunked: 'true', chunk_size: '1000' })}`,
      { headers: basic('root'), signal: open.signal },
    );
  for (const database of ['d', 'hidden'])
    await service.write('m f=1 1', { db: database }, { headers: basic('root') });
  // An answer that nobody holds is given up.
  const answers = await Promise.all([
    start(endless('m'), 'd'),
    start(endless('hidden..m'), 'd'),
    start(endless('(SELECT f FROM hidden..m)'), 'd'),
    start(endless('m'), 'hidden'),
    start(`SHOW STATS; ${endless('m')}`, 'd'),
  ]);
  const texts = async (user: string): Promise<string[]> => {
    const { json } = await ask(user, 'SHOW QUERIES');
    const rows: [number, string, string][] = json.results[0].series[0].values;
    return rows.map(([, text, database]) => `${database}: ${text}`);
  };

  const all = await texts('root');
  const seen = await texts('ben');
  open.abort();

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(all).toHaveLength(6);
  expect(seen.map((text) => text.replace(/ WHERE.*/, ''))).toEqual([
    'd: SELECT mean(f) FROM m',
    'd: SHOW QUERIES',
  ]);
});
