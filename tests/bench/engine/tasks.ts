// Benchmark of many tasks: 1,000 are defined and enabled over HTTP in a new engine, which then has
// nothing to do. The limits are 10 s and 2 % of a processor. `npm run bench -- engine/tasks`; needs
// a build.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { processorMs } from '../server/processor.ts';

const TASKS = 1_000;
const CLIENTS = 4;
const SETTLE_MS = 5_000;
const IDLE_MS = 20_000;
const IDLE_ROUNDS = 3;

const executable = fileURLToPath(new URL('../../../packages/cli/bin/tidemark.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'engine-bench-'));
const child = spawn(
  process.execPath,
  [executable, 'engine', '--bind', '127.0.0.1:0', '--data-dir', directory],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);
const { pid } = child;
if (pid === undefined) throw new Error('the engine did not start');

async function address(): Promise<string> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
  }
  for (;;) {
    const found =
      /https?:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? /127\.0\.0\.1:[1-9]\d*/.exec(text)?.[0];
    if (found !== undefined) return found.startsWith('http') ? found : `http://${found}`;
    if (child.exitCode !== null) throw new Error(text);
    await sleep(50);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function define(url: string, i: number): Promise<void> {
  const script = `stream|from().measurement('m${i}').groupBy('host')|window().period(1m).every(1m)|mean('v').as('v')|alert().crit(lambda: "v" > 90.0).stateChangesOnly().topic('t')`;
  const task = { id: `task-${i}`, dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
  const response = await fetch(`${url}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify(task),
  });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

const url = await address();
let next = 0;
const cpuBefore = processorMs(pid);
const began = performance.now();
await Promise.all(
  Array.from({ length: CLIENTS }, async () => {
    while (next < TASKS) await define(url, next++);
  }),
);
const seconds = (performance.now() - began) / 1000;
const cpuSeconds = (processorMs(pid) - cpuBefore) / 1000;
await sleep(SETTLE_MS);
// Rounds of a minute show what is done from time to time, such as saving state.
const shares: string[] = [];
for (let round = 0; round < IDLE_ROUNDS; round++) {
  const from = processorMs(pid);
  await sleep(IDLE_MS);
  shares.push(`${(((processorMs(pid) - from) / IDLE_MS) * 100).toFixed(2)} %`);
}
const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
console.log(
  `${TASKS} tasks defined and enabled: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU; idle ${shares.join(', ')} of a processor, RSS ${Math.round(Number(memory) / 1024)} MiB`,
);
child.kill();
await once(child, 'exit');
rmSync(directory, { recursive: true, force: true });
