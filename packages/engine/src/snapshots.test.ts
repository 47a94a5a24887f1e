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

async function start(): Promise<void> {
  const { config } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: directory,
        stats: { enabled: false },
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
  await start();
});

afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

test('the state of a user-defined function goes on after a restart', async () => {
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
});
