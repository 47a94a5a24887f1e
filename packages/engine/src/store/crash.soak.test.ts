// kill -9 under load: everything acknowledged survives, and no change is applied in part. `npm run
// soak:engine` runs fifty rounds.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROUNDS = Number(process.env['ENGINE_CRASH_ROUNDS'] ?? 5);
const ACKNOWLEDGED_PER_ROUND = 40;

const PROGRAM = `
  import { resolveEngineConfig, startEngine } from '@tidemark/engine';
  const { config } = resolveEngineConfig([{ source: 'test', values: {
    data_dir: process.env.DIRECTORY, stats: { enabled: false }, task: { hosts: '0' },
    http: { 'bind-address': '127.0.0.1:0' },
  } }]);
  const none = () => {};
  const log = { debug: none, info: none, warn: none, error: none };
  const engine = await startEngine(config, { log });
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
  const args = ['--conditions=source', '--input-type=module', '-e', PROGRAM];
  const started = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
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
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return (await fetch(url, { method: 'POST', body: text })).status;
  } catch {
    // The engine was killed; nothing was acknowledged.
    return 0;
  }
}

type Acknowledged = Record<'tasks' | 'templates' | 'handlers' | 'events' | 'recordings', string[]>;

const scriptOf = (measurement: string, topic: string): string =>
  `stream|from().measurement('${measurement}').groupBy('h')
    |alert().id('{{ index .Tags "h" }}').crit(lambda: "v" > 1).topic('${topic}')`;
const SCRIPT = scriptOf('m', 't');
/**
 * Nothing that accumulates from round to round gets points: work per point must not grow with the
 * number of rounds.
 */
const IDLE_SCRIPT = scriptOf('idle', 'idle');
/**
 * Points are written with the present time, so a recording ends also when its request was slower
 * than this.
 */
const RECORDING_MS = 200;
const DBRPS = [{ db: 'd', rp: 'r' }];
/** Its receiver never answers, so everything it gets waits on disk. */
const DEAD_ACTION = { kind: 'tcp', options: { address: '127.0.0.1:1' } };

/** Defines things under one id after the other, until the engine is gone. */
async function load(url: string, name: string, acknowledged: Acknowledged): Promise<void> {
  const api = `${url}/engine/v1`;
  const topic = `${url}/engine/v1preview/alerts/topics/idle`;
  for (let i = 0, isAlive = true; isAlive; i++) {
    const id = `x-${name}-${i}`;
    const status = i % 4 === 0 ? 'enabled' : 'disabled';
    const task = { id, dbrps: DBRPS, script: IDLE_SCRIPT, status };
    const handler = { id, actions: [DEAD_ACTION] };
    const steps: [keyof Acknowledged, string, unknown, number][] = [
      ['tasks', `${api}/tasks`, task, 200],
      ['templates', `${api}/templates`, { id, script: SCRIPT }, 200],
      ['handlers', `${topic}/handlers`, handler, 200],
      ['events', `${url}/write?db=d&rp=r`, `m,h=${id} v=9`, 204],
    ];
    for (const [kind, path, body, expected] of steps) {
      const answered = await post(path, body);
      if (answered === expected) acknowledged[kind].push(id);
      isAlive &&= answered !== 0;
    }
  }
}

/**
 * Makes recordings, one after the other, until the engine is gone. One counts when it was seen to
 * have finished.
 */
async function record(url: string, round: number, acknowledged: Acknowledged): Promise<void> {
  const path = `${url}/engine/v1/recordings`;
  for (let i = 0; ; i++) {
    const id = `r-${round}-${i}`;
    const stop = new Date(Date.now() + RECORDING_MS).toISOString();
    if ((await post(`${path}/stream`, { id, task: 'watch', stop })) !== 201) return;
    const status = await eventually(
      'the recording',
      async () => {
        // 0: the engine was killed.
        const now = await fetch(`${path}/${id}`).then(
          (response) => response.status,
          () => 0,
        );
        return now === 202 ? undefined : now;
      },
      60_000,
    );
    if (status !== 200) return;
    acknowledged.recordings.push(id);
  }
}

test('acknowledged changes survive', { timeout: 60_000 + ROUNDS * 30_000 }, async () => {
  const acknowledged: Acknowledged = {
    tasks: [],
    templates: [],
    handlers: [],
    events: [],
    recordings: [],
  };
  const count = (): number => Object.values(acknowledged).flat().length;
  for (let round = 0; round < ROUNDS; round++) {
    const url = await start();
    if (round === 0) {
      const watch = { id: 'watch', dbrps: DBRPS, script: SCRIPT, status: 'enabled' };
      expect(await post(`${url}/engine/v1/tasks`, watch)).toBe(200);
      const topic = `${url}/engine/v1preview/alerts/topics/t`;
      expect(await post(`${topic}/handlers`, { id: 'dead', actions: [DEAD_ACTION] })).toBe(200);
    }
    const goal = count() + ACKNOWLEDGED_PER_ROUND;
    const recordingGoal = acknowledged.recordings.length + 1;
    const isLoaded = (): boolean =>
      count() >= goal && acknowledged.recordings.length >= recordingGoal;
    const lanes = Promise.all([
      record(url, round, acknowledged),
      ...[0, 1, 2].map((lane) => load(url, `${round}-${lane}`, acknowledged)),
    ]);
    await eventually('load', async () => (isLoaded() ? true : undefined), 60_000);
    await kill();
    await lanes;
  }

  const url = await start();
  const get = async (path: string): Promise<any> => (await fetch(url + path)).json();
  const missing = (list: { id: string }[], want: readonly string[]): readonly string[] => {
    const have = new Set(list.map(({ id }) => id));
    return want.filter((id) => !have.has(id));
  };
  const { tasks } = await get('/engine/v1/tasks?limit=-1');
  const { templates } = await get('/engine/v1/templates?limit=-1');
  const { recordings } = await get('/engine/v1/recordings?limit=-1');
  const topics = '/engine/v1preview/alerts/topics';
  const { handlers } = await get(`${topics}/idle/handlers?limit=-1`);
  const { events } = await get(`${topics}/t/events?limit=-1`);

  expect(missing(tasks, acknowledged.tasks)).toEqual([]);
  expect(missing(templates, acknowledged.templates)).toEqual([]);
  expect(missing(handlers, acknowledged.handlers)).toEqual([]);
  expect(missing(events, acknowledged.events)).toEqual([]);
  expect(missing(recordings, acknowledged.recordings)).toEqual([]);
  expect(acknowledged.recordings.length).toBeGreaterThan(0);
  for (const { id, status, executing, error, script: shown } of tasks) {
    expect({ id, executing, error }).toEqual({ id, executing: status === 'enabled', error: '' });
    expect(shown).toContain('.topic(');
  }
  // A recording is finished and whole, or has failed and says that the engine ended.
  for (const { id, status, error } of recordings) {
    if (acknowledged.recordings.includes(id))
      expect({ status, error }).toEqual({ status: 'finished', error: '' });
    else expect(['finished', 'failed']).toContain(status);
  }
  const recording = acknowledged.recordings.at(-1);
  expect(await post(`${url}/engine/v1/replays/`, { id: 'again', task: 'watch', recording })).toBe(
    201,
  );
  const replayed = await eventually('the replay', async () => {
    const answer = await get('/engine/v1/replays/again');
    return answer.status === 'running' ? undefined : answer;
  });
  expect(replayed).toMatchObject({ status: 'finished', error: '' });
});
