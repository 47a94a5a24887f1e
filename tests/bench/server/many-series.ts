// A million series of three rows, asked as a whole: the first time after the load, again, when its
// files have been merged, and after a restart. Times, the processor time of the server, its memory,
// and what it had at most of that since the line before. With influxd and victoria-metrics
// installed and `--peers`, the same there. `--merged` asks nothing before all is merged, to see
// what the merging costs. Runs the built executable.
// packages/cli/bin/node --conditions=source tests/bench/server/many-series.ts [series] [rows]
// [--merged] [--peers]
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
} from '@tidemark/testkit';

import { forgetPeak, memoryMiB, processorMs } from './processor.ts';
import { send } from './writer.ts';

const numbers = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const [seriesCount = 1_000_000, rowsPerSeries = 3] = numbers.map(Number);
const isMergedFirst = process.argv.includes('--merged');
const LINES = 5000;
const CONNECTIONS = 4;
const START_SECONDS = 1_600_000_000;
const REPEATS = 3;
/** A server that used less of a core than this for so long has flushed and merged everything. */
const REST_SHARE = 0.05;
const REST_SECONDS = 15;

const STATEMENTS: readonly string[] = [
  'SELECT count(value) FROM hc',
  'SELECT mean(value) FROM hc',
  'SELECT max(value) FROM hc GROUP BY dc',
  'SELECT max(value) FROM hc GROUP BY svc',
  'SELECT max(value) FROM hc GROUP BY dc, svc',
  "SELECT mean(value) FROM hc WHERE dc = 'dc1'",
  'SELECT last(value) FROM hc',
  `SELECT sum(value) FROM hc WHERE time >= ${START_SECONDS}s AND time < ${START_SECONDS + 3600}s GROUP BY time(10s)`,
  'SELECT count(value) FROM hc WHERE value > 100',
];

type Subject = { readonly name: string; readonly url: string; readonly pid: number };

const UNLIMITED = ['--data-max-values-per-tag', '0', '--data-max-series-per-database', '0'];
const ARGS = ['--monitor-store-enabled', 'false', ...UNLIMITED];

let tidemark = await startTidemark({ command: 'tsdb', args: ARGS });
const { directory } = tidemark;
const subject = (): Subject => ({
  name: 'Tidemark',
  url: tidemark.tsdb,
  pid: tidemark.process.pid ?? 0,
});
try {
  await measure(subject());
  await tidemark.stop();
  tidemark = await startTidemark({ command: 'tsdb', directory, args: ARGS });
  await ask({ ...subject(), name: 'Tidemark, started again' });
} finally {
  await tidemark.stop();
  await removeDirectory(directory);
}
if (process.argv.includes('--peers') && hasPrograms('influxd')) {
  const influxdb = await startInfluxdb();
  try {
    const pid = influxdb.process.pid ?? 0;
    await measure({ name: 'InfluxDB', url: influxdb.url, pid });
  } finally {
    await influxdb.stop();
  }
}

async function measure(one: Subject): Promise<void> {
  await query(one.url, 'CREATE DATABASE bench');
  const agent = new Agent({ keepAlive: true });
  const began = performance.now();
  const before = processorMs(one.pid);
  for (let round = 0; round < rowsPerSeries; round++) {
    let next = 0;
    const writer = async (): Promise<void> => {
      while (next < seriesCount) {
        const first = next;
        next += LINES;
        const status = await send(
          `${one.url}/write?db=bench&precision=s`,
          agent,
          body(first, round),
        );
        if (status !== 204) throw new Error(`write answered ${status}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, writer));
  }
  agent.destroy();
  const seconds = (performance.now() - began) / 1000;
  const rows = seriesCount * rowsPerSeries;
  print(`\n${one.name}: ${rows} rows loaded`, [
    `${(rows / seconds / 1000).toFixed(0)} k rows/s`,
    `CPU ${processorMs(one.pid) - before} ms`,
    `RSS ${shownMemory(one.pid)}`,
  ]);
  if (!isMergedFirst) await ask({ ...one, name: `${one.name}, right after the load` });
  await rest(one);
  await ask({ ...one, name: `${one.name}, at rest` });
}

/** Waits until the background work is done: flushes, and the merging of segments. */
async function rest({ name, pid }: Subject): Promise<void> {
  const began = performance.now();
  const beforeMs = processorMs(pid);
  let lastWorkAt = began;
  for (let usedMs = beforeMs; performance.now() - lastWorkAt < REST_SECONDS * 1000;) {
    const since = performance.now();
    await sleep(1000);
    const nowMs = processorMs(pid);
    if (nowMs - usedMs > REST_SHARE * (performance.now() - since)) lastWorkAt = performance.now();
    usedMs = nowMs;
  }
  print(`${name}, until all is merged`, [
    `${((lastWorkAt - began) / 1000).toFixed(0)} s`,
    `CPU ${processorMs(pid) - beforeMs} ms`,
    `RSS ${shownMemory(pid)}`,
  ]);
}

function body(first: number, round: number): Uint8Array {
  const lines: string[] = [];
  const time = START_SECONDS + round * 10;
  for (let i = first; i < Math.min(seriesCount, first + LINES); i++) {
    const pod = (Math.imul(i, 2_654_435_761) >>> 0).toString(16);
    const tags = `dc=dc${i % 7},id=${i},pod=p${pod},svc=svc-${i % 211}`;
    lines.push(`hc,${tags} value=${(i % 1000) / 8 + round} ${time}`);
  }
  return Buffer.from(lines.join('\n'));
}

async function ask({ name, url, pid }: Subject): Promise<void> {
  print(name, ['first ms', 'CPU', 'again ms', 'CPU']);
  for (const statement of STATEMENTS) {
    const [first, ...again] = await costs(url, pid, statement);
    const best = again.toSorted((a, b) => a.wallMs - b.wallMs)[0];
    print(
      `  ${statement.slice(0, 70)}`,
      [first, best].flatMap((cost) => [
        (cost?.wallMs ?? Number.NaN).toFixed(0),
        String(cost?.cpuMs ?? Number.NaN),
      ]),
    );
  }
  print('  RSS', [shownMemory(pid)]);
}

type Cost = { readonly wallMs: number; readonly cpuMs: number };

async function costs(url: string, pid: number, statement: string): Promise<readonly Cost[]> {
  const all: Cost[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const before = processorMs(pid);
    const began = performance.now();
    await query(url, statement, 'bench');
    const wallMs = performance.now() - began;
    all.push({ wallMs, cpuMs: processorMs(pid) - before });
  }
  return all;
}

/** The server's memory now, and its maximum since the previous call. */
function shownMemory(pid: number): string {
  const [now, most] = [memoryMiB(pid, 'VmRSS'), memoryMiB(pid, 'VmHWM')];
  forgetPeak(pid);
  return `${now.toFixed(0)} MiB, ${most.toFixed(0)} at most`;
}

function print(name: string, columns: readonly string[]): void {
  const cells = columns.map((column) => column.padStart(9)).join(' ');
  process.stdout.write(`${name.padEnd(76)} ${cells}\n`);
}
