// What a restart of the engine gives back to its tasks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveEngineConfig } from './config.ts';
import { startEngine } from './start-engine.ts';
import type { EngineService } from './start-engine.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const runningSum = fileURLToPath(
  new URL('../../runtime/examples/udf-running-sum.mjs', import.meta.url),
);

let directory = '';
let engine: EngineService;

async function start(hosts = 'auto'): Promise<void> {
  const { config } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: directory,
        stats: { enabled: false },
        task: { hosts },
        http: { 'bind-address': '127.0.0.1:0' },
        udf: { functions: { sum: { prog: process.execPath, args: [runningSum] } } },
      },
    },
  ]);
  engine = await startEngine(config, { log: quiet });
}

async function post(path: string, body: string): Promise<number> {
  const response = await fetch(engine.url + path, { method: 'POST', body });
  await response.arrayBuffer();
  return response.status;
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'engine-snapshots-'));
});

afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

test(
  'the state of a user-defined function goes on after a restart',
  { timeout: 120_000 },
  async () => {
    await start();
    const script = "stream|from().groupBy('h')@sum().field('v')|httpOut('o')";
    const task = { id: 't', dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
    expect(await post('/engine/v1/tasks', JSON.stringify(task))).toBe(200);
    await post('/engine/v1/write?db=d&rp=r', 'm,h=a v=5 1\nm,h=a v=6 2');

    await engine.close();
    await start();
    await post('/engine/v1/write?db=d&rp=r', 'm,h=a v=1 3');
    // Saving at the stop waits for the answers of the function.
    await engine.close();
    await start();

    const answer = await fetch(`${engine.url}/engine/v1/tasks/t/o`);
    const { series } = (await answer.json()) as { series: object[] };
    expect(series).toMatchObject([
      { columns: ['time', 'sum', 'v'], values: [[expect.anything(), 12, 1]] },
    ]);
  },
);

/** Defines a task that counts, writes two points and gives the engine a restart, after what `change` does. */
async function countAfterRestart(change: object): Promise<unknown> {
  await start('0');
  const script = "stream|from()|eval(lambda: count()).as('n')|httpOut('o')";
  const task = { id: 't', dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
  expect(await post('/engine/v1/tasks', JSON.stringify(task))).toBe(200);
  await post('/engine/v1/write?db=d&rp=r', 'm v=5 1\nm v=6 2');
  const body = JSON.stringify(change);
  const patched = await fetch(`${engine.url}/engine/v1/tasks/t`, { method: 'PATCH', body });
  expect(patched.status).toBe(200);

  await engine.close();
  await start('0');
  await post('/engine/v1/write?db=d&rp=r', 'm v=7 3');
  // What a stop saves has seen all that was written.
  await engine.close();
  await start('0');

  const answer = await fetch(`${engine.url}/engine/v1/tasks/t/o`);
  const { series } = (await answer.json()) as { series: { values: unknown[][] }[] };
  return series[0]?.values[0]?.[1];
}

test('a task goes on with its state after a restart', async () => {
  expect(await countAfterRestart({})).toBe(3);
});

test('a task that was changed while it ran is another one after a restart', async () => {
  expect(await countAfterRestart({ vars: { other: { type: 'int', value: 1 } } })).toBe(1);
});
