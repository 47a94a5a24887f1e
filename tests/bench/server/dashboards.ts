// Many dashboards beside ingest: each has a connection of its own that is kept alive, and asks
// twenty small queries one after the other every second, while data comes in at a third of the rate
// that the server takes at most. Every other dashboard is of the web application, which asks for
// chunks and diagnostics. The number of dashboards grows until the 99th percentile is longer than
// 50 ms. Tidemark, InfluxDB and VictoriaMetrics one after the other, only one of them runs at a
// time. Runs the built executable.
// packages/cli/bin/node --conditions=source tests/bench/server/dashboards.ts
//   [--seconds 5] [--dashboards 50,100,200,300,400] [--victoria-metrics PROGRAM]
//   [--ingest 400000: values a second instead of a third] [--alone: without peers]
import { Agent } from 'node:http';
import { parseArgs } from 'node:util';

import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
} from '@tidemark/testkit';

import { askAsOurs, KeepAlive } from './keep-alive.ts';
import { batches, quantile, START } from './lines.ts';
import { processorMs } from './processor.ts';
import { startVictoriaMetrics } from './victoria-metrics.ts';
import { write } from './writer.ts';

const { values: options } = parseArgs({
  options: {
    alone: { type: 'boolean', default: false },
    dashboards: { type: 'string', default: '50,100,200,300,400' },
    ingest: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '5' },
    'victoria-metrics': { type: 'string', default: '' },
  },
});
const ingest = Number(options.ingest);
const seconds = Number(options.seconds);
const WANTED_P99_MS = 50;
const PANELS = 20;
const REFRESH_MS = 1000;
const HOSTS = 100;
const ROWS = 5000;
const VALUES = ROWS * 10;
const WRITERS = 2;
/** An hour of all hosts, which the dashboards look at. */
const HOUR_BODIES = Math.ceil((HOSTS * 360) / ROWS);
/** 5 M values a second, and 14 M while it is found out how many a server takes. */
const BODIES = Math.max(480, 100 * seconds);
const FULL_MS = 1500;

type Server = {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** Answers of panels come from here; a query is sent as this says. */
  readonly ask: (connection: KeepAlive, dashboard: number, panel: number) => Promise<number>;
  /** A place for the same bodies again that is as new as the one before; for a writer. */
  readonly newPlace: (name: string) => Promise<string>;
  readonly stop: () => Promise<void>;
};

const source = batches(HOSTS, ROWS);
const bodies = Array.from({ length: BODIES }, () => source.next().value as Uint8Array).reverse();
const starts = [startOurs];
if (!options.alone && hasPrograms('influxd')) starts.push(startPeer);
const program = options['victoria-metrics'];
if (!options.alone && program !== '') starts.push(() => startMetrics(program));
for (const start of starts) {
  const server = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
  try {
    await climb(server, agent);
  } finally {
    agent.destroy();
    await server.stop();
  }
}

async function climb(server: Server, agent: Agent): Promise<void> {
  const { name, url } = server;
  const common = { url, agent, rowsPerBody: ROWS, connections: WRITERS };
  const always = { durationMs: Number.POSITIVE_INFINITY, everyMs: 0 };
  await write({ ...common, bodies: bodies.slice(-HOUR_BODIES) }, always);
  const into = await server.newPlace('full');
  const full = await write(
    { ...common, bodies: [...bodies], into },
    { durationMs: FULL_MS, everyMs: 0 },
  );
  process.stdout.write(`${name}, takes ${(full / 1e6).toFixed(2)} M values/s at most\n`);
  const everyMs = (1000 * VALUES * WRITERS) / (ingest === 0 ? full / 3 : ingest);
  let reached = 0;
  for (const dashboards of options.dashboards.split(',').map(Number)) {
    const left = [...bodies];
    const writing = write(
      { ...common, bodies: left, into: await server.newPlace(`beside_${dashboards}`) },
      { durationMs: seconds * 1000, everyMs },
    );
    const [p99, came] = await Promise.all([measure(server, dashboards), writing]);
    process.stdout.write(`, ${(came / 1e6).toFixed(2)} M values/s came in\n`);
    if (left.length === 0) throw new Error('there were too few bodies for the writers');
    if (p99 > WANTED_P99_MS) break;
    reached = (dashboards * PANELS * 1000) / REFRESH_MS;
  }
  process.stdout.write(`  p99 <= ${WANTED_P99_MS} ms up to ${reached} queries a second\n`);
}

/** Prints what the dashboards got; the 99th percentile, endless when refreshes were skipped. */
async function measure(server: Server, dashboards: number): Promise<number> {
  const cpuBefore = processorMs(server.pid);
  const began = performance.now();
  const all = await Promise.all(
    Array.from({ length: dashboards }, (_, i) => runDashboard(server, i, dashboards)),
  );
  const perSecond = (sum: number): string =>
    ((sum * 1000) / (performance.now() - began)).toFixed(0);
  const latencies = all.flatMap((one) => one.latencies).sort((a, b) => a - b);
  const skipped = all.reduce((sum, one) => sum + one.skipped, 0);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((part) => quantile(latencies, part)) as [
    number,
    number,
    number,
  ];
  const cpuMs = (processorMs(server.pid) - cpuBefore) / latencies.length;
  process.stdout.write(
    `  ${dashboards} dashboards: ${perSecond(latencies.length)} queries/s, ${skipped} refreshes skipped, ` +
      `p50 ${p50.toFixed(2)} p95 ${p95.toFixed(1)} p99 ${p99.toFixed(1)} ms, ` +
      `CPU with the writes ${cpuMs.toFixed(2)} ms a query`,
  );
  return skipped > 0 ? Number.POSITIVE_INFINITY : p99;
}

/**
 * Milliseconds that each query took, from the moment at which it should have been sent, when the
 * refresh before is still running. A refresh that would be a second late is skipped, as a browser
 * does.
 */
async function runDashboard(
  server: Server,
  number: number,
  dashboards: number,
): Promise<{ readonly latencies: readonly number[]; readonly skipped: number }> {
  const connection = await KeepAlive.open(server.url);
  const began = performance.now();
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
      for (let panel = 0; panel < PANELS; panel++) {
        const status = await server.ask(connection, number, panel);
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

/** The same panels for VictoriaMetrics, as near as its language comes. */
function metricsPathOf(dashboard: number, panel: number): string {
  if (panel === 0) return '/api/v1/label/region/values';
  const from = Number(START / 1_000_000_000n);
  const labels = `db="bench",hostname="host_${dashboard % HOSTS}"`;
  const metric = `cpu_usage_${panel % 10}{${labels}}`;
  const range = (expression: string, end: number, step: number): string =>
    `/api/v1/query_range?${new URLSearchParams({ query: expression, start: `${from}`, end: `${end}`, step: `${step}` })}`;
  const end = from + 3600;
  if (panel < 4) {
    return `/api/v1/query?${new URLSearchParams({ query: `last_over_time(${metric}[1h])`, time: `${end}` })}`;
  }
  if (panel < 6) return range(metric, from + 990, 10);
  if (panel < 9) {
    return range(`avg_over_time({__name__=~"cpu_usage_[0-4]",${labels}}[1m])`, end, 60);
  }
  return range(`max_over_time(${metric}[1m])`, end, 60);
}

async function startOurs(): Promise<Server> {
  const server = await startTidemark({
    command: 'tsdb',
    args: ['--monitor-store-enabled', 'false'],
    // As it is started by default; it is over when the first bodies are written.
    environment: { TIDEMARK_DATA_REHEARSAL_ENABLED: 'true' },
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    await removeDirectory(server.directory);
  };
  return speaksInfluxql('Tidemark', server.tsdb, server.process.pid ?? 0, stop);
}

async function startPeer(): Promise<Server> {
  const { url, process: child, stop } = await startInfluxdb();
  return speaksInfluxql('InfluxDB', url, child.pid ?? 0, stop);
}

async function speaksInfluxql(
  name: string,
  url: string,
  pid: number,
  stop: () => Promise<void>,
): Promise<Server> {
  await query(url, 'CREATE DATABASE bench');
  return {
    name,
    url,
    pid,
    stop,
    ask: (connection, dashboard, panel) => {
      const q = textOf(dashboard, panel);
      const form = new URLSearchParams({ q, db: 'bench', epoch: 'ms' });
      if (dashboard % 2 === 0) return askAsOurs(connection, form);
      return connection.get(`/query?${form}`);
    },
    newPlace: async (policy) => {
      await query(url, `CREATE RETENTION POLICY ${policy} ON bench DURATION INF REPLICATION 1`);
      return `db=bench&rp=${policy}`;
    },
  };
}

async function startMetrics(executable: string): Promise<Server> {
  return {
    ...(await startVictoriaMetrics(executable)),
    ask: (connection, dashboard, panel) => connection.get(metricsPathOf(dashboard, panel)),
    newPlace: (database) => Promise.resolve(`db=${database}`),
  };
}
