// Queries while data comes in: what a cheap query and a dashboard's query take every 100 ms, with
// and without writers at half of the rate that the server takes at most, how long the rounds of the
// server's event loops are meanwhile, and how soon a query ends whose client goes away. Runs the
// built executable. packages/cli/bin/node --conditions=source tests/bench/server/mixed.ts [seconds]
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type { IncomingMessage } from 'node:http';

import { makeDirectory, query, removeDirectory, startTidemark } from '@tidemark/testkit';

import { batches, quantile, START } from './lines.ts';
import { memoryMiB } from './processor.ts';
import { printRounds, probed } from './rounds.ts';
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

const CANCELLED = 20;

const probeDirectory = await makeDirectory();
const server = await startTidemark({
  command: 'tsdb',
  args: ['--monitor-store-enabled', 'false'],
  // As it is started by default: the bodies take longer to make than the rehearsal.
  environment: { ...probed(probeDirectory), TIDEMARK_DATA_REHEARSAL_ENABLED: 'true' },
});
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
  const began = Date.now();
  const writing = write(options, { durationMs: seconds * 1000, everyMs });
  await measure('while half of that comes in', agent);
  print('came in, M values/s', (await writing) / 1e6);
  // The probe writes every quarter of a second.
  await new Promise((resolve) => setTimeout(resolve, 500));
  printRounds(probeDirectory, began, Date.now());
  await measureCancelling(agent);
  print('memory of the server, MiB', memoryMiB(server.process.pid ?? 0, 'VmRSS'));
  agent.destroy();
} finally {
  await server.stop();
  await removeDirectory(server.directory);
  await removeDirectory(probeDirectory);
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

/** From the moment at which the client goes away until the query is not listed any more. */
async function measureCancelling(agent: Agent): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < CANCELLED; i++) {
    const path = `/query?db=bench&chunked=true&q=${encodeURIComponent('SELECT * FROM cpu')}`;
    const request = get(`${server.tsdb}${path}`);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    answer.on('error', () => undefined); // It is broken off below.
    const began = performance.now();
    request.destroy();
    while ((await runningQueries(agent)) > 1);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  print('a query whose client goes away ends after, p50 ms', quantile(times, 0.5));
  print('the longest of them, ms', quantile(times, 1));
}

/** The one that asks is among them. */
async function runningQueries(agent: Agent): Promise<number> {
  const request = get(`${server.tsdb}/query?q=SHOW%20QUERIES`, { agent });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const document = JSON.parse(Buffer.concat(chunks).toString()) as {
    readonly results: readonly { readonly series?: readonly { readonly values: unknown[] }[] }[];
  };
  return document.results[0]?.series?.[0]?.values.length ?? 0;
}

function print(what: string, value: number): void {
  process.stdout.write(`${what.padEnd(56)} ${value.toFixed(2)}\n`);
}
