// The engine on a full disk: changes that cannot be stored are refused with the reason, running
// work continues, and freed space is used without a restart.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import {
  canMountTmpfs,
  eventually,
  makeDirectory,
  removeDirectory,
  startTidemark,
  TestServer,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterEach, describe, expect, test } from 'vitest';

const DBRPS = [{ db: 'd', rp: 'r' }];
const TASKS_MAX = 2_000;

let directory = '';
let engine: Tidemark | undefined;

afterEach(async () => {
  await engine?.kill();
  engine = undefined;
  await removeDirectory(directory);
});

async function define(id: string, script: string): Promise<{ status: number; error: string }> {
  const response = await fetch(`${engine?.engine}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({ id, dbrps: DBRPS, script, status: 'enabled' }),
  });
  const { error } = (await response.json()) as { readonly error?: string };
  return { status: response.status, error: error ?? '' };
}

const MADE = "stream|from()|httpOut('made')";

async function post(path: string, body: object, method = 'POST'): Promise<number> {
  const init: RequestInit = { method, body: JSON.stringify(body) };
  const response = await fetch(`${engine?.engine}/engine/v1/${path}`, init);
  await response.arrayBuffer();
  return response.status;
}

/** A script whose text takes room. */
const large = (i: number, length = 40_000): string =>
  `// ${String(i).repeat(length).slice(0, length)}\nstream|from().measurement('none')`;

/** Takes what a handler posts: the levels that were told. */
async function openReceiver(): Promise<{ server: TestServer; levels: string[] }> {
  const levels: string[] = [];
  const server = new TestServer(({ body }) => {
    levels.push((JSON.parse(body) as { level: string }).level);
    return {};
  });
  await server.open();
  return { server, levels };
}

async function writePoint(line: string): Promise<{ status: number; text: string }> {
  const init = { method: 'POST', body: line };
  const response = await fetch(`${engine?.engine}/write?db=d&rp=r`, init);
  return { status: response.status, text: await response.text() };
}

async function get(path: string): Promise<{ readonly status: number; readonly json: any }> {
  const response = await fetch(engine?.engine + path);
  return { status: response.status, json: await response.json() };
}

describe.skipIf(!canMountTmpfs())('an engine on a full disk', () => {
  test('refuses definitions with the reason, tasks go on, alerts are told, freed space is used without a restart', async () => {
    directory = await makeDirectory();
    const script = `mount -t tmpfs -o size=24m tmpfs "$0" && head -c 16m /dev/zero > "$0/ballast" && exec "$@"`;
    engine = await startTidemark({
      command: 'engine',
      directory,
      wrapper: ['unshare', '-rm', 'sh', '-c', script, directory],
      environment: { TIDEMARK_TASK_SNAPSHOT_INTERVAL: '100ms' },
    });
    const watch = "stream|from().measurement('m')|httpOut('out')";
    expect(await define('watch', watch)).toEqual({ status: 200, error: '' });
    expect(await post('templates', { id: 'tpl', script: MADE })).toBe(200);
    expect(
      await post('tasks', { id: 'made', 'template-id': 'tpl', dbrps: DBRPS, status: 'enabled' }),
    ).toBe(200);
    const stop = '1970-01-01T00:00:00.000000002Z';
    expect(await post('recordings/stream', { id: 'rec', task: 'watch', stop })).toBe(201);
    const receiver = await openReceiver();
    const alert = `stream|from().measurement('m')|alert().id('e').crit(lambda: "v" > 5).stateChangesOnly().topic('t').post('${receiver.server.url}')`;
    expect(await define('alert', alert)).toEqual({ status: 200, error: '' });

    let refused = { status: 200, error: '' };
    let defined = 0;
    // Smaller ones fit when large ones do not any more.
    for (let length = 40_000; length > 0; length = Math.floor(length / 2)) {
      for (refused.status = 200; defined < TASKS_MAX && refused.status === 200; defined++) {
        refused = await define(`large-${defined}`, large(defined, length));
      }
      defined--;
    }
    await write(engine.engine, 'd', 'm v=1 1', { rp: 'r' });
    const output = await get('/engine/v1/tasks/watch/out');
    // A write that cannot be stored is visible as long as the process lives, but is not
    // acknowledged.
    const unkept = await writePoint('m v=9 2');
    const unkeptAgain = await writePoint('m v=9 2');
    const told = async (count: number): Promise<true | undefined> =>
      receiver.levels.length >= count ? true : undefined;
    await eventually('the alert', () => told(1), 60_000);
    const event = await get('/engine/v1preview/alerts/topics/t/events/e');
    // The state of tasks, which is saved at times, cannot be kept either.
    await eventually('the failure to save', async () =>
      engine?.errorOutput().includes('failed to save the state of tasks') ? true : undefined,
    );
    const during = await get('/engine/v1/tasks?limit=10000&fields=id');
    // A change that cannot be kept is none, also where it was in use already.
    const other = `// ${'x'.repeat(500_000)}\n${MADE.replace('made', 'other')}`;
    expect(await post('templates/tpl', { script: other }, 'PATCH')).toBe(503);
    expect(await post('config/smtp/', { set: { host: 'x'.repeat(500_000) } })).toBe(503);
    const unchanged = await Promise.all([
      get('/engine/v1/templates/tpl?script-format=raw'),
      get('/engine/v1/tasks/made?script-format=raw'),
      get('/engine/v1/config/smtp/'),
    ]);
    const stillMade = await get('/engine/v1/tasks/made/made');
    // The point at 2 ns was the last one of the recording.
    await writePoint('m v=9 3');
    const recording = await eventually('the end of the recording', async () => {
      const answer = await get('/engine/v1/recordings/rec');
      return answer.status === 200 ? answer.json : undefined;
    });
    const absent = await get(`/engine/v1/tasks/large-${defined}`);
    rmSync(`/proc/${engine.process.pid}/root${join(directory, 'ballast')}`);
    const freed = await define('freed', large(1));
    await write(engine.engine, 'd', 'm v=1 4', { rp: 'r' });
    await eventually('the recovery', () => told(2), 60_000);
    await receiver.server.close();

    expect(refused.status).toBe(503);
    expect(refused.error).toContain('metadata cannot be written');
    expect(defined).toBeGreaterThan(0);
    expect(output.json.series[0].values[0][1]).toBe(1);
    for (const { status, text } of [unkept, unkeptAgain]) {
      expect(status).toBe(503);
      expect(text).toContain('alerts cannot be stored: metadata cannot be written');
    }
    expect(receiver.levels).toEqual(['CRITICAL', 'OK']);
    expect(event.json.state).toMatchObject({ level: 'CRITICAL', message: 'e is CRITICAL' });
    expect(during.json.tasks.length).toBe(defined + 3);
    expect(unchanged.map(({ json }) => json.script)).toEqual([MADE, MADE, undefined]);
    expect(unchanged[1]?.json).toMatchObject({ executing: true, error: '' });
    expect(unchanged[2]?.json.options.host).toBe('localhost');
    expect(stillMade.status).toBe(200);
    expect(['finished', 'failed']).toContain(recording.status);
    expect(absent.status).toBe(404);
    expect(freed).toEqual({ status: 200, error: '' });
    expect(engine.process.exitCode).toBeNull();
  }, 120_000);
});
