// kill -9 under load: what was acknowledged is there afterwards, and nothing is half there.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROUNDS = 2;
const ACKNOWLEDGED_PER_ROUND = 40;

const PROGRAM = `
  import { resolveEngineConfig, startEngine } from '@tidemark/engine';
  const { config } = resolveEngineConfig([{ source: 'test', values: {
    data_dir: process.env.DIRECTORY, stats: { enabled: false }, task: { hosts: '0' }, http: { 'bind-address': '127.0.0.1:0' },
  } }]);
  const none = () => {};
  const engine = await startEngine(config, { log: { debug: none, info: none, warn: none, error: none } });
  process.stdout.write(engine.url + '\\n');
`;

let directory = '';
let child: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engine-crash-'));
});

afterEach(async () => {
  await kill();
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<string> {
  const args = ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', PROGRAM];
  const started = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, DIRECTORY: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  for await (const line of createInterface({ input: started.stdout })) return line;
  throw new Error('the engine ended before it was ready');
}

async function kill(): Promise<void> {
  const running = child;
  child = undefined;
  if (running === undefined || running.exitCode !== null) return;
  const ended = new Promise((resolve) => running.once('exit', resolve));
  running.kill('SIGKILL');
  await ended;
}

async function post(url: string, body: unknown): Promise<number> {
  try {
    return (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).status;
  } catch {
    // The engine was killed; nothing was acknowledged.
    return 0;
  }
}

test('acknowledged tasks, templates and handlers survive', { timeout: 120_000 }, async () => {
  const acknowledged = {
    tasks: [] as string[],
    templates: [] as string[],
    handlers: [] as string[],
  };
  const script = "stream|from().measurement('m')|alert().crit(lambda: \"v\" > 1).topic('t')";
  for (let round = 0; round < ROUNDS; round++) {
    const url = await start();
    const api = `${url}/engine/v1`;
    const count = (): number => Object.values(acknowledged).flat().length;
    const goal = count() + ACKNOWLEDGED_PER_ROUND;
    let isAlive = true;
    const define = async (lane: number): Promise<void> => {
      for (let i = 0; isAlive; i++) {
        const id = `x-${round}-${lane}-${i}`;
        const dbrps = [{ db: 'd', rp: 'r' }];
        const task = { id, dbrps, script, status: i % 2 === 0 ? 'enabled' : 'disabled' };
        if ((await post(`${api}/tasks`, task)) === 200) acknowledged.tasks.push(id);
        if ((await post(`${api}/templates`, { id, script })) === 200)
          acknowledged.templates.push(id);
        const handlers = `${url}/engine/v1preview/alerts/topics/t/handlers`;
        const handler = { id, actions: [{ kind: 'tcp', options: { address: '127.0.0.1:1' } }] };
        if ((await post(handlers, handler)) === 200) acknowledged.handlers.push(id);
        if (count() >= goal) {
          isAlive = false;
          await kill();
        }
      }
    };
    await Promise.all([0, 1, 2].map(define));
  }

  const url = await start();
  const get = async (path: string): Promise<any> => (await fetch(url + path)).json();
  const ids = (list: { id: string }[]): Set<string> => new Set(list.map(({ id }) => id));
  const { tasks } = await get('/engine/v1/tasks?limit=-1');
  const { templates } = await get('/engine/v1/templates?limit=-1');
  const { handlers } = await get('/engine/v1preview/alerts/topics/t/handlers');

  const missing = (have: Set<string>, want: string[]): string[] =>
    want.filter((id) => !have.has(id));
  expect(missing(ids(tasks), acknowledged.tasks)).toEqual([]);
  expect(missing(ids(templates), acknowledged.templates)).toEqual([]);
  expect(missing(ids(handlers), acknowledged.handlers)).toEqual([]);
  for (const { id, status, executing, error, script: shown } of tasks) {
    expect({ id, executing, error }).toEqual({ id, executing: status === 'enabled', error: '' });
    expect(shown).toContain('.topic(');
  }
});
