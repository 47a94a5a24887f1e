// Benchmark of a task with very many groups: processor time per million rows and memory, when
// nearly every row opens a group and when all are open. Each number of groups has a new engine.
// `npm run bench -- engine/groups`; needs a build.
import { setTimeout } from 'node:timers/promises';

import { makeDirectory, removeDirectory, startTidemark } from '@tidemark/testkit';

import { memoryMiB, processorMs } from '../server/processor.ts';

const GROUPS = [50_000, 250_000];
const ROUNDS = 4;
const FIELDS = 10;
const ROWS_PER_BODY = 5000;
const SETTLE_MS = 1000;

const encoder = new TextEncoder();

function bodyOf(first: number, round: number): Uint8Array<ArrayBuffer> {
  const lines = Array.from({ length: ROWS_PER_BODY }, (_, i) => {
    const row = first + i;
    const fields = Array.from({ length: FIELDS }, (__, f) => `f${f}=${(row * 7 + f * 13) % 100}`);
    return `m,host=host_${row},region=r${row % 7} ${fields.join(',')} ${1_700_000_000 + round * 10}`;
  });
  return encoder.encode(lines.join('\n'));
}

for (const groups of GROUPS) {
  const directory = await makeDirectory();
  const engine = await startTidemark({ command: 'engine', directory });
  const { pid = 0 } = engine.process;
  const post = async (path: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> => {
    const response = await fetch(`${engine.engine}/engine/v1${path}`, { method: 'POST', body });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
  };
  const script = `stream|from().measurement('m').groupBy('host')|stateCount(lambda: "f0" > 50.0)|httpOut('o')`;
  const dbrps = [{ db: 'd', rp: 'r' }];
  await post('/tasks', JSON.stringify({ id: 't', dbrps, script, status: 'enabled' }));
  const costs: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = processorMs(pid);
    for (let row = 0; row < groups; row += ROWS_PER_BODY) {
      await post('/write?db=d&rp=r&precision=s', bodyOf(row, round));
    }
    await setTimeout(SETTLE_MS);
    costs.push((((processorMs(pid) - before) / groups) * 1000).toFixed(2));
  }
  console.log(
    `${groups} groups: ${costs.join(', ')} s of processor time per million rows, RSS ${memoryMiB(pid, 'VmRSS').toFixed(0)} MiB, at most ${memoryMiB(pid, 'VmHWM').toFixed(0)}`,
  );
  await engine.stop();
  await removeDirectory(directory);
}
