// Requests a second of one, two and four clients that ask for large aggregates, without and with a
// reader (`data.query-threads`), and those of an InfluxDB if influxd is installed; in turns. Behind
// each rate are the processors that the server used. Runs the built executable.
import { availableParallelism } from 'node:os';

import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
  write,
} from '@tidemark/testkit';

import { processorMs } from './processor.ts';

const DATABASE = 'bench';
const HOSTS = 200;
const EVERY_S = 10;
const HOURS = 12;
const CLIENTS = [1, 2, 4];
const TURNS = 3;
const TURN_MS = 1000;

const RANGE = `time >= 0 AND time < ${HOURS}h`;
const STATEMENTS = [
  `SELECT mean(level), max(level) FROM cpu WHERE ${RANGE} GROUP BY time(1m), host`,
  `SELECT percentile(level, 95) FROM cpu WHERE ${RANGE} GROUP BY time(1h)`,
  `SELECT count(level) FROM cpu WHERE ${RANGE} AND level > 50`,
];

type Subject = { readonly name: string; readonly url: string; readonly pid: number };

/** Hour after hour, 72,000 rows each. */
async function fill(url: string): Promise<void> {
  await query(url, `CREATE DATABASE ${DATABASE}`);
  let state = 1;
  for (let hour = 0; hour < HOURS; hour++) {
    const lines: string[] = [];
    for (let s = hour * 3600; s < (hour + 1) * 3600; s += EVERY_S) {
      for (let host = 0; host < HOSTS; host++) {
        state = (state * 1103515245 + 12345) % 2147483648;
        lines.push(`cpu,host=h${host} level=${(state >>> 8) % 10_000}e-2 ${s}`);
      }
    }
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
}

async function askFor(url: string, statement: string): Promise<number> {
  const end = performance.now() + TURN_MS;
  let runs = 0;
  const parameters = new URLSearchParams({ db: DATABASE, q: statement, epoch: 'ns' });
  // The text is not parsed: that would be most of the work of a client.
  for (; performance.now() < end; runs++) {
    const response = await fetch(`${url}/query?${parameters}`);
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
  }
  return runs;
}

/** Requests a second of all clients together, and processors in use. */
async function rate(
  { url, pid }: Subject,
  statement: string,
  clients: number,
): Promise<{ readonly rate: number; readonly cores: number }> {
  const began = performance.now();
  const before = processorMs(pid);
  const runs = await Promise.all(Array.from({ length: clients }, () => askFor(url, statement)));
  const ms = performance.now() - began;
  const count = runs.reduce((sum, each) => sum + each);
  return { rate: (1000 * count) / ms, cores: (processorMs(pid) - before) / ms };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

async function compare(subjects: readonly Subject[]): Promise<void> {
  process.stdout.write(`requests/s (processors used) of ${availableParallelism()} processors\n`);
  for (const statement of STATEMENTS) {
    process.stdout.write(`${statement}\n`);
    // The first ones compile code, and fill caches.
    for (const subject of subjects) await rate(subject, statement, 2);
    for (const clients of CLIENTS) {
      const rates = subjects.map((): number[] => []);
      const cores = subjects.map((): number[] => []);
      for (let turn = 0; turn < TURNS; turn++) {
        for (const [i, subject] of subjects.entries()) {
          const measured = await rate(subject, statement, clients);
          rates[i]!.push(measured.rate);
          cores[i]!.push(measured.cores);
        }
      }
      const shown = subjects.map(({ name }, i) => {
        return `${name} ${median(rates[i]!).toFixed(1)} (${median(cores[i]!).toFixed(2)})`;
      });
      process.stdout.write(`  ${clients} clients: ${shown.join(', ')}\n`);
    }
  }
}

const stops: (() => Promise<unknown>)[] = [];
try {
  const subjects: Subject[] = [];
  for (const threads of [0, 1]) {
    const started = await startTidemark({
      command: 'tsdb',
      args: ['--monitor-store-enabled', 'false', '--data-query-threads', String(threads)],
    });
    stops.push(
      () => removeDirectory(started.directory),
      () => started.stop(),
    );
    const { tsdb: url, process: child } = started;
    subjects.push({ name: `query-threads ${threads}`, url, pid: child.pid ?? 0 });
  }
  if (hasPrograms('influxd')) {
    const influxdb = await startInfluxdb();
    stops.push(() => influxdb.stop());
    subjects.push({ name: 'InfluxDB', url: influxdb.url, pid: influxdb.process.pid ?? 0 });
  }
  for (const { url } of subjects) await fill(url);
  await compare(subjects);
} finally {
  for (const stop of stops.toReversed()) await stop();
}
