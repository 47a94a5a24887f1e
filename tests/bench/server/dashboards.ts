// Many dashboards beside ingest: each has a connection of its own that is kept alive, and asks
// twenty small queries one after the other every second, while data comes in at a third of the rate
// that the server takes at most. Every other dashboard is of the web application, which asks for
// chunks and diagnostics. Runs the built executable.
// packages/cli/bin/node --conditions=source tests/bench/server/dashboards.ts [seconds] [dashboards]
import { Agent } from 'node:http';

import { metricValue, query, removeDirectory, send, startTidemark } from '@tidemark/testkit';

import { askAsOurs, KeepAlive } from './keep-alive.ts';
import { batches, quantile, START } from './lines.ts';
import { processorMs } from './processor.ts';
import { write } from './writer.ts';

const [seconds = 10, dashboards = 200] = process.argv.slice(2).map(Number);
const PANELS = 20;
const REFRESH_MS = 1000;
const HOSTS = 100;
const ROWS = 5000;
const VALUES = ROWS * 10;
const WRITERS = 2;
/** An hour of all hosts, which the dashboards look at. */
const HOUR_BODIES = (HOSTS * 360) / ROWS;
/** 24 M values, 0.4 GB of text: made beforehand, and none is written twice. */
const BODIES = 480;

const server = await startTidemark({
  command: 'tsdb',
  args: ['--monitor-store-enabled', 'false'],
  // As it is started by default; it is over when the bodies are made.
  environment: { TIDEMARK_DATA_REHEARSAL_ENABLED: 'true' },
});
const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
try {
  await query(server.tsdb, 'CREATE DATABASE bench');
  const source = batches(HOSTS, ROWS);
  const bodies = Array.from({ length: BODIES }, () => source.next().value as Uint8Array).reverse();
  const options = { url: server.tsdb, agent, bodies, rowsPerBody: ROWS, connections: WRITERS };
  await write(
    { ...options, bodies: bodies.splice(-Math.ceil(HOUR_BODIES)) },
    { durationMs: Number.POSITIVE_INFINITY, everyMs: 0 },
  );
  const full = await write(options, { durationMs: 1500, everyMs: 0 });
  print('most that it takes, M values/s', full / 1e6);
  await measure('alone');
  const everyMs = (1000 * VALUES * WRITERS) / (full / 3);
  const writing = write(options, { durationMs: seconds * 1000, everyMs });
  await measure('beside a third of that');
  print('came in, M values/s', (await writing) / 1e6);
  const [hits, misses] = await Promise.all(['hits', 'misses'].map(countOf));
  print('statements whose plan was cached, %', (100 * hits!) / (hits! + misses!));
} finally {
  agent.destroy();
  await server.stop();
  await removeDirectory(server.directory);
}

async function measure(when: string): Promise<void> {
  const pid = server.process.pid ?? 0;
  const cpuBefore = processorMs(pid);
  const began = performance.now();
  const all = await Promise.all(
    Array.from({ length: dashboards }, (_, i) => runDashboard(i, began)),
  );
  const tookMs = performance.now() - began;
  const latencies = all.flatMap((one) => one.latencies).sort((a, b) => a - b);
  const skipped = all.reduce((sum, one) => sum + one.skipped, 0);
  process.stdout.write(
    `${when}: ${latencies.length} queries, ${Math.round((latencies.length * 1000) / tookMs)} a second of ` +
      `${(dashboards * PANELS * 1000) / REFRESH_MS} wanted, ${skipped} refreshes skipped\n`,
  );
  for (const part of [0.5, 0.95, 0.99]) {
    print(`query ${when}, p${part * 100} ms`, quantile(latencies, part));
  }
  print(
    `CPU of the server per query ${when}, ms`,
    (processorMs(pid) - cpuBefore) / latencies.length,
  );
}

/**
 * Milliseconds that each query took, from the moment at which it should have been sent, when the
 * refresh before is still running. A refresh that would be a second late is skipped, as a browser
 * does.
 */
async function runDashboard(
  number: number,
  began: number,
): Promise<{ readonly latencies: readonly number[]; readonly skipped: number }> {
  const connection = await KeepAlive.open(server.tsdb);
  const texts = Array.from({ length: PANELS }, (_, panel) => textOf(number, panel));
  const latencies: number[] = [];
  let skipped = 0;
  try {
    // Refreshes of different people are spread over the second.
    const first = began + (number * REFRESH_MS) / dashboards;
    for (let due = first; due < began + seconds * 1000; due += REFRESH_MS) {
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (wait < -REFRESH_MS) {
        skipped++;
        continue;
      }
      let start = due;
      for (const text of texts) {
        const status = await ask(connection, text, number % 2 === 0);
        if (status !== 200) throw new Error(`query answered ${status}`);
        const end = performance.now();
        latencies.push(end - start);
        start = end;
      }
    }
    return { latencies, skipped };
  } finally {
    connection.close();
  }
}

function ask(connection: KeepAlive, text: string, isOurs: boolean): Promise<number> {
  const form = new URLSearchParams({ q: text, db: 'bench', epoch: 'ms' });
  return isOurs ? askAsOurs(connection, form) : connection.get(`/query?${form}`);
}

/** Panels of a dashboard of one host: lines, a few wide ones, last values, and its menu. */
function textOf(dashboard: number, panel: number): string {
  const field = `usage_${panel % 10}`;
  const where = `hostname = 'host_${dashboard % HOSTS}' AND time >= ${START} AND time < ${START + 3_600_000_000_000n}`;
  if (panel === 0) return 'SHOW TAG VALUES FROM cpu WITH KEY = region';
  if (panel < 4) return `SELECT last(${field}) FROM cpu WHERE ${where}`;
  if (panel < 6) return `SELECT ${field} FROM cpu WHERE ${where} LIMIT 100`;
  if (panel < 9) {
    const fields = Array.from({ length: 5 }, (_, i) => `mean(usage_${i})`).join(', ');
    return `SELECT ${fields} FROM cpu WHERE ${where} GROUP BY time(1m)`;
  }
  return `SELECT max(${field}) FROM cpu WHERE ${where} GROUP BY time(1m)`;
}

async function countOf(what: string): Promise<number> {
  const { text } = await send(`${server.tsdb}/metrics`);
  return metricValue(text, `tidemark_tsdb_plan_cache_${what}_total`);
}

function print(what: string, value: number): void {
  process.stdout.write(`${what.padEnd(56)} ${value.toFixed(2)}\n`);
}
