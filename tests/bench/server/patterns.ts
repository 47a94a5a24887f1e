// Regular expressions over 100,000 values of a tag and of a field: the first time, and again. With
// influxd installed the same statements run there too. CPU is that of the server's process. Runs
// the built executable. packages/cli/bin/node --conditions=source tests/bench/server/patterns.ts
import { Agent } from 'node:http';

import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
} from '@tidemark/testkit';

import { manySeries, quantile } from './lines.ts';
import { processorMs } from './processor.ts';
import { write } from './writer.ts';

const VALUES = 100_000;
const ROWS = 5000;
const REPEATS = 10;
/** Compiles code and loads indexes, so that what follows is the pattern's own cost. */
const WARM_UP = ['^v1', '[13]5', '(?:x|y)z'];
const PATTERNS: readonly string[] = [
  '^v77777$',
  '^v777',
  '777',
  '77$',
  '^(v1|v20|v300|v4000)$',
  '^v[0-9]*7{2}[0-9]$',
  '(1|2)+.*9[0-4]',
  '^v(?:[0-9]{2})*$',
];

type Subject = { readonly name: string; readonly url: string; readonly pid: number };

type Cost = { readonly firstMs: number; readonly againMs: number; readonly wallMs: number };

const tidemark = await startTidemark({
  command: 'tsdb',
  args: ['--monitor-store-enabled', 'false', '--data-max-values-per-tag', '0'],
});
const influxdb = hasPrograms('influxd') ? await startInfluxdb() : undefined;
try {
  await compare({ name: 'Tidemark', url: tidemark.tsdb, pid: tidemark.process.pid ?? 0 });
  if (influxdb !== undefined)
    await compare({ name: 'InfluxDB', url: influxdb.url, pid: influxdb.process.pid ?? 0 });
} finally {
  await influxdb?.stop();
  await tidemark.stop();
  await removeDirectory(tidemark.directory);
}

async function compare(subject: Subject): Promise<void> {
  await query(subject.url, 'CREATE DATABASE bench');
  await fill(subject);
  process.stdout.write(`\n${subject.name.padEnd(36)} CPU ms, first     again   p50 ms\n`);
  const columns = [
    ['tag', 'SELECT count(f) FROM r WHERE id'],
    ['field', 'SELECT count(s) FROM t WHERE s'],
  ] as const;
  for (const [column, statement] of columns) {
    for (const pattern of WARM_UP) await cost(subject, `${statement} =~ /${pattern}/`);
    for (const pattern of PATTERNS) {
      const { firstMs, againMs, wallMs } = await cost(subject, `${statement} =~ /${pattern}/`);
      const numbers = [firstMs, againMs, wallMs].map((ms) => ms.toFixed(1).padStart(9));
      process.stdout.write(`${`${column} =~ /${pattern}/`.padEnd(40)} ${numbers.join(' ')}\n`);
    }
  }
}

/** A measurement with 100,000 values of a tag, and one series with as many texts. */
async function fill({ url }: Subject): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const encoder = new TextEncoder();
  const bodies = manySeries('r', VALUES, ROWS);
  for (let at = 0; at < VALUES; at += ROWS) {
    const lines = Array.from({ length: ROWS }, (_, i) => `t s="v${at + i}" ${at + i + 1}`);
    bodies.push(encoder.encode(lines.join('\n')));
  }
  const options = { url, agent, bodies, rowsPerBody: ROWS, connections: 1 };
  await write(options, { durationMs: Number.POSITIVE_INFINITY, everyMs: 0 });
  agent.destroy();
}

async function cost({ url, pid }: Subject, statement: string): Promise<Cost> {
  const before = processorMs(pid);
  await query(url, statement, 'bench');
  const firstMs = processorMs(pid) - before;
  const latencies: number[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const began = performance.now();
    await query(url, statement, 'bench');
    latencies.push(performance.now() - began);
  }
  const againMs = (processorMs(pid) - before - firstMs) / REPEATS;
  return {
    firstMs,
    againMs,
    wallMs: quantile(
      latencies.toSorted((a, b) => a - b),
      0.5,
    ),
  };
}
