// A cluster of two shards on this machine: how fast points get there through the service, beside
// the same rows in plain inserts by as many clients, and how long its queries take, beside the same
// questions in SQL by hand. BENCH_ROWS (1,000,000 when absent) and BENCH_CLIENTS (4).
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

import { makeDirectory, removeDirectory, runTidemark, startTidemark } from '@tidemark/testkit';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 4);
const SERIES = 1000;
const ROWS_PER_REQUEST = 10_000;
const STEP_SECONDS = 10;
const START_SECONDS = 1_700_000_000;
const ROUNDS = 7;

async function post(url: string, body: string | Uint8Array): Promise<Buffer> {
  const call = request(url, { method: 'POST' });
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const answer = Buffer.concat(parts);
  if ((response.statusCode ?? 500) >= 300) throw new Error(answer.toString());
  return answer;
}

const valueOf = (row: number): number => ((row * 7919) % 100_000) / 16;
const timeOf = (row: number): number => START_SECONDS + Math.floor(row / SERIES) * STEP_SECONDS;

function linesOf(first: number): string {
  const lines: string[] = [];
  for (let row = first; row < Math.min(first + ROWS_PER_REQUEST, ROWS); row++)
    lines.push(`cpu,host=h${row % SERIES},dc=d${row % 10} usage=${valueOf(row)} ${timeOf(row)}`);
  return lines.join('\n');
}

/** column, hour, series, time, f, i, s, batch, grp: what the service inserts, too. */
function binaryOf(first: number, shard: number, shards: number): Uint8Array {
  const row = Buffer.alloc(8 + 4 + 8 + 8 + 8 + 8 + 1 + 8 + 4);
  const rows: Buffer[] = [];
  for (let at = first; at < Math.min(first + ROWS_PER_REQUEST, ROWS); at++) {
    const series = at % SERIES;
    if (series % shards !== shard) continue;
    row.writeBigUInt64LE(1n, 0);
    row.writeInt32LE(Math.floor(timeOf(at) / 3600), 8);
    row.writeBigUInt64LE(BigInt(series), 12);
    row.writeBigInt64LE(BigInt(timeOf(at)) * 1_000_000_000n, 20);
    row.writeDoubleLE(valueOf(at), 28);
    row.writeBigUInt64LE(BigInt(first), 45);
    row.writeUInt32LE(1, 53);
    rows.push(Buffer.from(row));
  }
  return Buffer.concat(rows);
}

/** So many clients, each with one request after the other. */
async function load(send: (first: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < ROWS) {
        const first = next;
        next += ROWS_PER_REQUEST;
        await send(first);
      }
    }),
  );
  return ROWS / ((performance.now() - started) / 1000);
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}

const directory = await makeDirectory();
const cluster = (verb: string, ...more: readonly string[]) =>
  runTidemark(['cluster', verb, '--dir', directory, ...more]);
const up = await cluster('up', '--shards', '2', '--replicas', '1');
const urls = (/clickhouse=(\S+)/.exec(up.stdout)?.[1] ?? '').split(',');
const server = await startTidemark({
  command: 'tsdb',
  args: [
    '--monitor-store-enabled=false',
    '--storage-engine=clickhouse',
    `--clickhouse-urls=${urls.join(',')}`,
  ],
});
try {
  await post(`${server.tsdb}/query?q=${encodeURIComponent('CREATE DATABASE d')}`, '');
  for (const url of urls) {
    await post(
      `${url}/?database=tidemark`,
      `CREATE TABLE plain (column UInt64, hour Int32, series UInt64, time Int64, f Float64, i Int64,
         s String, batch UInt64, grp UInt32)
       ENGINE = ReplicatedReplacingMergeTree('/plain/{shard}', '{replica}')
       PARTITION BY grp ORDER BY (column, hour, series, time)`,
    );
  }
  const insert = encodeURIComponent('INSERT INTO plain FORMAT RowBinary');
  const plain = await load((first) =>
    Promise.all(
      urls.map((url, i) =>
        post(`${url}/?database=tidemark&query=${insert}`, binaryOf(first, i, urls.length)),
      ),
    ),
  );
  const own = await load((first) => post(`${server.tsdb}/write?db=d&precision=s`, linesOf(first)));
  const share = Math.round((own / plain) * 100);
  console.log(
    `load: ${Math.round(own)} points/s, plain inserts ${Math.round(plain)} rows/s (${share} %)`,
  );

  const end = timeOf(ROWS);
  const range = `time >= ${START_SECONDS}s AND time <= ${end}s`;
  const cases: readonly (readonly [name: string, influxql: string, sql: string])[] = [
    [
      'mean by hour',
      `SELECT mean(usage) FROM cpu WHERE ${range} GROUP BY time(1h)`,
      'SELECT intDiv(time, 3600000000000) AS w, sum(f), count() FROM plain FINAL GROUP BY w ORDER BY w',
    ],
    [
      'max of each series',
      `SELECT max(usage) FROM cpu WHERE ${range} GROUP BY host`,
      'SELECT series, argMin(time, (-f, time)), max(f) FROM plain FINAL GROUP BY series',
    ],
    [
      'count above a value',
      `SELECT count(usage) FROM cpu WHERE usage > 6000 AND ${range}`,
      'SELECT count() FROM plain FINAL WHERE f > 6000',
    ],
    [
      'one series by ten minutes',
      `SELECT mean(usage) FROM cpu WHERE host = 'h7' AND ${range} GROUP BY time(10m)`,
      'SELECT intDiv(time, 600000000000) AS w, sum(f), count() FROM plain FINAL WHERE series = 7 GROUP BY w ORDER BY w',
    ],
    [
      'an hour of one series',
      `SELECT usage FROM cpu WHERE host = 'h7' AND time < ${START_SECONDS + 3600}s`,
      `SELECT time, f FROM plain FINAL WHERE series = 7 AND hour <= ${Math.floor(START_SECONDS / 3600) + 1} AND time < ${START_SECONDS + 3600}000000000 ORDER BY time`,
    ],
  ];
  for (const [name, influxql, sql] of cases) {
    const service = await median(() =>
      post(`${server.tsdb}/query?db=d&epoch=ns&q=${encodeURIComponent(influxql)}`, ''),
    );
    const byHand = await median(() =>
      Promise.all(urls.map((url) => post(`${url}/?database=tidemark`, `${sql} FORMAT RowBinary`))),
    );
    const factor = (service / byHand).toFixed(2);
    console.log(
      `${name}: ${service.toFixed(1)} ms, by hand ${byHand.toFixed(1)} ms (${factor} times)`,
    );
  }
} finally {
  await server.stop();
  await cluster('down');
  await removeDirectory(server.directory);
  await removeDirectory(directory);
}
