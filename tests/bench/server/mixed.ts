// Queries while data comes in: what a cheap query and a dashboard's query take every 100 ms, with and without writers
// at half of the rate that the server takes at most. Runs the built executable.
// node --conditions=source --import tsx tests/bench/server/mixed.ts [seconds]
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';

import { query, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { batches, quantile, START } from './lines.ts';
import { send, write } from './writer.ts';

const [seconds = 5] = process.argv.slice(2).map(Number);
const HOSTS = 100;
const ROWS = 5000;
const VALUES = ROWS * 10;
const WRITERS = 2;
// No point is written twice: that would be another benchmark. 24 M values, 0.4 GB of text.
const BODIES = 480;
const QUERY_EVERY_MS = 100;

const WINDOW = `time >= ${START} AND time < ${START + 3_600_000_000_000n}`;
const QUERIES: Readonly<Record<string, string>> = {
  cheap: `SELECT max(usage_0) FROM cpu WHERE hostname = 'host_1' AND ${WINDOW} GROUP BY time(1m)`,
  dashboard: `SELECT mean(usage_0), mean(usage_1) FROM cpu WHERE ${WINDOW} GROUP BY time(5m), region`,
};

const server = await startTidemark({ command: 'tsdb', args: ['--monitor-store-enabled', 'false'] });
try {
  await query(server.tsdb, 'CREATE DATABASE bench');
  // Made beforehand: the generator must not be what is measured.
  const source = batches(HOSTS, ROWS);
  const bodies = Array.from({ length: BODIES }, () => source.next().value as Uint8Array).reverse();
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const options = { url: server.tsdb, agent, bodies, rowsPerBody: ROWS, connections: WRITERS };

  const full = await write(options, { durationMs: 1500, everyMs: 0 });
  print('most that it takes, M values/s', full / 1e6);
  await measure('without writers', agent);
  const everyMs = (1000 * VALUES * WRITERS) / (full / 2);
  const writing = write(options, { durationMs: seconds * 1000, everyMs });
  await measure('while half of that comes in', agent);
  print('came in, M values/s', (await writing) / 1e6);
  print('memory of the server, MiB', residentMiB(server));
  agent.destroy();
} finally {
  await server.stop();
  await removeDirectory(server.directory);
}

async function measure(when: string, agent: Agent): Promise<void> {
  const latencies = new Map(Object.keys(QUERIES).map((name) => [name, [] as number[]]));
  const began = performance.now();
  for (let round = 0; performance.now() - began < seconds * 1000; round++) {
    const wait = began + round * QUERY_EVERY_MS - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    for (const [name, text] of Object.entries(QUERIES)) {
      const start = performance.now();
      const path = `/query?db=bench&q=${encodeURIComponent(text)}`;
      const status = await send(`${server.tsdb}${path}`, agent, undefined);
      if (status !== 200) throw new Error(`query answered ${status}`);
      latencies.get(name)?.push(performance.now() - start);
    }
  }
  for (const [name, list] of latencies) {
    list.sort((a, b) => a - b);
    print(`${name} query ${when}, p50 ms`, quantile(list, 0.5));
    print(`${name} query ${when}, p99 ms`, quantile(list, 0.99));
  }
}

function residentMiB({ process: { pid } }: Tidemark): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

function print(what: string, value: number): void {
  process.stdout.write(`${what.padEnd(56)} ${value.toFixed(2)}\n`);
}
