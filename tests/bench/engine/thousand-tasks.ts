// Benchmark of an engine of a thousand tasks over a hundred measurements: each row is read by ten
// of them. Processor time of the writes, memory, and the start with these tasks. Arguments: rows.
// `npm run bench -- engine/thousand-tasks`; needs a build.
import { setTimeout } from 'node:timers/promises';

import { makeDirectory, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { memoryMiB, processorMs } from '../server/processor.ts';

const [rows = 300_000] = process.argv.slice(2).map(Number);
const TASKS = 1000;
const MEASUREMENTS = 100;
const HOSTS = 20;
const ROWS_PER_BODY = 5000;
const CLIENTS = 2;
const FIELDS = 10;
/** Until the tasks have taken what was written. */
const SETTLE_MS = 5000;

const directory = await makeDirectory();
const start = (): Promise<Tidemark> => startTidemark({ command: 'engine', directory });

const pidOf = ({ process: { pid = 0 } }: Tidemark): number => pid;

async function inTurn(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, lane));
}

async function post(url: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const response = await fetch(url, { method: 'POST', body });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

function bodyOf(first: number): Uint8Array<ArrayBuffer> {
  const lines: string[] = [];
  for (let row = first; row < Math.min(rows, first + ROWS_PER_BODY); row++) {
    const measurement = row % MEASUREMENTS;
    const host = Math.floor(row / MEASUREMENTS) % HOSTS;
    const time = 1_700_000_000 + Math.floor(row / MEASUREMENTS / HOSTS) * 10;
    const fields = Array.from({ length: FIELDS }, (_, i) => `f${i}=${(row * 7 + i * 13) % 100}`);
    lines.push(`m${measurement},host=h${host} ${fields.join(',')} ${time}`);
  }
  return new TextEncoder().encode(lines.join('\n'));
}

/** Points that the tasks have taken, all together. */
async function collected(url: string): Promise<number> {
  let sum = 0;
  for (let task = 0; task < TASKS; task++) {
    const response = await fetch(`${url}/engine/v1/tasks/task-${task}`);
    const { stats } = (await response.json()) as { stats: { 'node-stats': Stats } };
    sum += stats['node-stats']['from1']?.collected ?? 0;
  }
  return sum;
}

type Stats = Readonly<Record<string, { readonly collected: number } | undefined>>;

let engine = await start();
await inTurn(TASKS, async (i) => {
  const from = `stream|from().measurement('m${i % MEASUREMENTS}').groupBy('host')`;
  const script = `${from}|window().period(1m).every(1m)|mean('f0').as('v')|alert().crit(lambda: "v" > ${40 + (i % 20)}.0).stateChangesOnly().topic('t')`;
  await post(
    `${engine.engine}/engine/v1/tasks`,
    JSON.stringify({ id: `task-${i}`, dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' }),
  );
});
const bodies: Uint8Array<ArrayBuffer>[] = [];
for (let first = 0; first < rows; first += ROWS_PER_BODY) bodies.push(bodyOf(first));

const cpuBefore = processorMs(pidOf(engine));
const began = performance.now();
await inTurn(bodies.length, (i) =>
  post(`${engine.engine}/engine/v1/write?db=d&rp=r&precision=s`, bodies[i]!),
);
const writtenMs = performance.now() - began;
const wanted = (rows * TASKS) / MEASUREMENTS;
await setTimeout(SETTLE_MS);
const cpuMs = processorMs(pidOf(engine)) - cpuBefore;
const rssMiB = memoryMiB(pidOf(engine), 'VmRSS');
for (let left = 60; (await collected(engine.engine)) < wanted; left--) {
  if (left === 0) throw new Error(`tasks took ${await collected(engine.engine)} of ${wanted}`);
  await setTimeout(500);
}
console.log(
  `${TASKS} tasks, ${rows} rows, ${TASKS / MEASUREMENTS} tasks each: written in ${(writtenMs / 1000).toFixed(1)} s, ${(cpuMs / 1000).toFixed(1)} s of CPU, RSS ${rssMiB.toFixed(0)} MiB, at most ${memoryMiB(pidOf(engine), 'VmHWM').toFixed(0)}`,
);
await engine.stop();

const startedMs = performance.now();
engine = await start();
const ms = performance.now() - startedMs;
await collected(engine.engine);
const answeredMs = performance.now() - startedMs;
console.log(
  `started again after ${(ms / 1000).toFixed(1)} s (all tasks answered after ${(answeredMs / 1000).toFixed(1)}), ${(processorMs(pidOf(engine)) / 1000).toFixed(1)} s of CPU, RSS ${memoryMiB(pidOf(engine), 'VmRSS').toFixed(0)} MiB`,
);
await engine.stop();
await removeDirectory(directory);
