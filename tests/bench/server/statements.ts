// Statements of the query language that no comparison has: INTO beside the SELECT and the writes it
// is made of, subqueries, regular expressions over 100,000 tag values, tag values of a million
// series. Runs the built executable; CPU is that of the server, which depends little on what else
// the machine does. packages/cli/bin/node --conditions=source tests/bench/server/statements.ts
// [series]
import { Agent } from 'node:http';

import { query, removeDirectory, startTidemark } from '@tidemark/testkit';

import { batches, manySeries, quantile, START } from './lines.ts';
import { processorMs } from './processor.ts';
import { send, write } from './writer.ts';

const [series = 1_000_000] = process.argv.slice(2).map(Number);
const ROWS = 5000;
const CPU_BATCHES = 20;
const VALUES = 100_000;

const server = await startTidemark({
  command: 'tsdb',
  args: [
    '--monitor-store-enabled',
    'false',
    '--data-max-series-per-database',
    '0',
    '--data-max-values-per-tag',
    '0',
  ],
});
const agent = new Agent({ keepAlive: true });
try {
  await query(server.tsdb, 'CREATE DATABASE bench');
  const source = batches(100, ROWS);
  const bodies = Array.from({ length: CPU_BATCHES }, () => source.next().value as Uint8Array);
  await measureWrites('100,000 rows of 10 fields written', bodies);
  await measure('SELECT * of them, drained', 'SELECT * FROM cpu', 5);
  await measure('the same INTO another measurement', 'SELECT * INTO copy FROM cpu GROUP BY *', 2);
  // Without an end, windows would reach until now.
  const when = `time >= ${START} AND time < ${START + 10_800_000_000_000n}`;
  const inner = `SELECT mean(usage_0) AS m FROM cpu WHERE ${when} GROUP BY time(1m), hostname`;
  await measure('mean by minute and host', inner, 10);
  const outer = `SELECT max(m) FROM (${inner}) WHERE ${when} GROUP BY time(1h)`;
  await measure('maximum of that by hour', outer, 10);

  await measureWrites('100,000 series of one point written', manySeries('r', VALUES, ROWS));
  const pattern = 'SELECT count(f) FROM r WHERE id =~ /^v[0-9]*7{2}[0-9]$/';
  await measure('regular expression over 100,000 values', pattern, 5);

  await measureWrites(`${series} series of one point written`, manySeries('h', series, ROWS));
  const values = 'SHOW TAG VALUES FROM h WITH KEY = region';
  await measure(`tag values of ${series} series, first`, values, 1);
  await query(server.tsdb, 'SELECT f INTO seen FROM cpu LIMIT 1', 'bench');
  await measure('the same, a series later', values, 1);
  await measure('the same, nothing new', values, 20);
} finally {
  agent.destroy();
  await server.stop();
  await removeDirectory(server.directory);
}

async function measureWrites(what: string, bodies: Uint8Array[]): Promise<void> {
  const before = cpuMs();
  const began = performance.now();
  const options = { url: server.tsdb, agent, bodies, rowsPerBody: ROWS, connections: 2 };
  await write(options, { durationMs: Number.POSITIVE_INFINITY, everyMs: 0 });
  print(what, performance.now() - began, cpuMs() - before);
}

async function measure(what: string, text: string, times: number): Promise<void> {
  const latencies: number[] = [];
  const before = cpuMs();
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    const url = `${server.tsdb}/query?db=bench&q=${encodeURIComponent(text)}`;
    const status = await send(url, agent, text.includes(' INTO ') ? new Uint8Array(0) : undefined);
    if (status !== 200) throw new Error(`${text} answered ${status}`);
    latencies.push(performance.now() - began);
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  print(what, quantile(sorted, 0.5), (cpuMs() - before) / times);
}

function cpuMs(): number {
  return processorMs(server.process.pid ?? 0);
}

function print(what: string, wallMs: number, serverMs: number): void {
  const numbers = `${wallMs.toFixed(1).padStart(9)} ms, CPU ${serverMs.toFixed(1).padStart(8)} ms`;
  process.stdout.write(`${what.padEnd(46)} ${numbers}\n`);
}
