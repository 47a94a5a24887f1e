// From exec to the first right answer, after a clean stop and after `kill -9`: until the ready line, until the right
// count of all rows, and the CPU time of the process until then. Runs the built executable.
// node --conditions=source --import tsx tests/bench/server/restart.ts [rows] [repeats]
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';

import { makeDirectory, query, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { batches, quantile } from './lines.ts';
import { send } from './writer.ts';

const [rows = 864_000, repeats = 7] = process.argv.slice(2).map(Number);
const ROWS_PER_BATCH = 5000;
const CLOCK_TICK_MS = 10;

const directory = await makeDirectory();
const start = (): Promise<Tidemark> => {
  const args = ['--monitor-store-enabled', 'false'];
  return startTidemark({ command: 'tsdb', directory, args });
};
try {
  const expected = await load();
  for (const end of ['stop', 'kill'] as const) {
    // Once more than is measured: what was read once lies in memory, as on a machine that restarts a service.
    const runs = [];
    for (let run = 0; run <= repeats; run++) runs.push(await restart(end, expected));
    print(end === 'stop' ? 'clean stop' : 'kill -9', runs.slice(1));
  }
} finally {
  await removeDirectory(directory);
}

/** Loads the rows; how many there are. */
async function load(): Promise<number> {
  const server = await start();
  const agent = new Agent({ keepAlive: true });
  await query(server.tsdb, 'CREATE DATABASE bench');
  const source = batches(100, ROWS_PER_BATCH);
  const count = Math.ceil(rows / ROWS_PER_BATCH);
  for (let i = 0; i < count; i++) {
    const status = await send(
      `${server.tsdb}/write?db=bench`,
      agent,
      source.next().value as Uint8Array,
    );
    if (status !== 204) throw new Error(`a write was answered with ${status}`);
  }
  agent.destroy();
  await server.stop();
  return count * ROWS_PER_BATCH;
}

type Run = { readonly readyMs: number; readonly countMs: number; readonly cpuMs: number };

/** Starts, waits for the right count and ends the process in the given way. */
async function restart(end: 'stop' | 'kill', expected: number): Promise<Run> {
  const from = performance.now();
  const server = await start();
  const readyMs = performance.now() - from;
  const answer = JSON.stringify(
    await query(server.tsdb, 'SELECT count(usage_0) FROM cpu', 'bench'),
  );
  const countMs = performance.now() - from;
  const cpuMs = cpuOf(server);
  await server[end]();
  if (!answer.includes(`,${expected}]`)) throw new Error(`not ${expected} rows: ${answer}`);
  return { readyMs, countMs, cpuMs };
}

/** User and system time of the process so far. */
function cpuOf({ process: { pid } }: Tidemark): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

function print(title: string, runs: readonly Run[]): void {
  const figures = (['readyMs', 'countMs', 'cpuMs'] as const).map((key) => {
    const sorted = runs.map((run) => run[key]).toSorted((a, b) => a - b);
    return `${key} ${Math.round(sorted[0]!)}–${Math.round(sorted.at(-1)!)}, median ${Math.round(quantile(sorted, 0.5))}`;
  });
  process.stdout.write(`after ${title}, ${runs.length} starts: ${figures.join('; ')}\n`);
}
