// Requests as sent by clients that are not in the distribution: each writes or queries and gets the
// response it needs.
import { gzipSync } from 'node:zlib';

import { query, removeDirectory, send, startTidemark, write } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let server: Tidemark;

beforeAll(async () => {
  server = await startTidemark({ command: 'tsdb' });
  await query(server.tsdb, 'CREATE DATABASE d');
  await write(
    server.tsdb,
    'd',
    'cpu,host=a usage=1.5,n=3i 1000000000\ncpu,host=b usage=2 2000000000',
  );
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

test('Telegraf writes, is told that the database is missing, creates it, and writes compressed', async () => {
  const body = 'cpu,host=t usage_idle=98.5 1700000000000000000\n';
  const path = `${server.tsdb}/write?consistency=any&db=telegraf&rp=`;
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'User-Agent': 'Telegraf/1.30' };
  const missing = await send(path, { method: 'POST', headers, body });
  expect(missing.status).toBe(404);
  expect(JSON.parse(missing.text)).toEqual({ error: 'database not found: telegraf' });

  const created = await send(`${server.tsdb}/query`, {
    method: 'POST',
    headers: FORM,
    body: form({ q: 'CREATE DATABASE "telegraf"' }),
  });
  expect(JSON.parse(created.text)).toEqual({ results: [{ statement_id: 0 }] });

  const written = await send(path, {
    method: 'POST',
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: gzipSync(body),
  });
  expect([written.status, written.text]).toEqual([204, '']);
  const [series] = await query(server.tsdb, 'SELECT usage_idle FROM cpu', 'telegraf');
  expect(series?.values).toEqual([['2023-11-14T22:13:20Z', 98.5]]);
});

test('Grafana checks its source, finds names and draws a panel', async () => {
  const ask = async (q: string): Promise<unknown> => {
    const answer = await send(`${server.tsdb}/query?${form({ db: 'd', epoch: 'ms', q })}`, {
      headers: { 'User-Agent': 'Grafana/10', Accept: 'application/json' },
    });
    expect(answer.status).toBe(200);
    return JSON.parse(answer.text);
  };
  const series = (name: string, columns: string[], values: unknown[][]) => ({
    results: [{ statement_id: 0, series: [{ name, columns, values }] }],
  });
  expect(await ask('SHOW measurements')).toEqual(series('measurements', ['name'], [['cpu']]));
  expect(await ask('SHOW MEASUREMENTS WITH MEASUREMENT =~ /(?i)CP/ LIMIT 100')).toEqual(
    series('measurements', ['name'], [['cpu']]),
  );
  expect(await ask('SHOW TAG KEYS FROM "cpu"')).toEqual(series('cpu', ['tagKey'], [['host']]));
  expect(await ask('SHOW TAG VALUES FROM "cpu" WITH KEY = "host"')).toEqual(
    series(
      'cpu',
      ['key', 'value'],
      [
        ['host', 'a'],
        ['host', 'b'],
      ],
    ),
  );
  expect(
    await ask(
      'SELECT mean("usage") FROM "cpu" WHERE ("host"::tag = \'a\') AND time >= 0ms and time <= 2999ms GROUP BY time(1s) fill(null)',
    ),
  ).toEqual(
    series(
      'cpu',
      ['time', 'mean'],
      [
        [0, null],
        [1000, 1.5],
        [2000, null],
      ],
    ),
  );
});

test('the Java client has its credentials and everything else in the URL', async () => {
  const ping = await send(`${server.tsdb}/ping`, { headers: { 'User-Agent': 'okhttp/4' } });
  expect([ping.status, ping.headers.get('x-influxdb-version')]).toEqual([204, '1.8.10']);
  const credentials = { u: 'root', p: 'root' };
  const written = await send(
    `${server.tsdb}/write?${form({ ...credentials, db: 'd', rp: 'autogen', precision: 'n', consistency: 'one' })}`,
    {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: 'java,k=v f=1 1',
    },
  );
  expect(written.status).toBe(204);
  const streamed = await send(
    `${server.tsdb}/query?${form({ ...credentials, db: 'd', chunked: 'true', chunk_size: '1', epoch: 'n', q: 'SELECT usage FROM cpu' })}`,
  );
  const documents = streamed.text.trim().split('\n');
  expect(documents.map((line) => JSON.parse(line).results[0].series[0].values)).toEqual([
    [[1_000_000_000, 1.5]],
    [[2_000_000_000, 2]],
  ]);
});

test('the Go client pings with a wait, writes without a content type and binds parameters', async () => {
  expect((await send(`${server.tsdb}/ping?wait_for_leader=1s`)).status).toBe(204);
  const written = await send(`${server.tsdb}/write?consistency=&db=d&precision=ns&rp=`, {
    method: 'POST',
    headers: { 'Content-Type': '' },
    body: 'go f=1i 5\n',
  });
  expect(written.status).toBe(204);
  const found = await send(
    `${server.tsdb}/query?${form({ db: 'd', epoch: 'ns', params: '{"t":5}', q: 'SELECT f FROM go WHERE time = $t' })}`,
    { method: 'POST', headers: { 'Content-Type': '' } },
  );
  expect(found.headers.get('content-type')).toBe('application/json');
  expect(JSON.parse(found.text).results[0].series[0].values).toEqual([[5, 1]]);
});
