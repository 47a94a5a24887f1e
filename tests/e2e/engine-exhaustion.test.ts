// The engine on a full disk: what can not be kept is refused with the reason, what is kept goes on, and freed space is
// used without a restart.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import {
  canMountTmpfs,
  makeDirectory,
  removeDirectory,
  startTidemark,
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

/** A script whose text takes room. */
const large = (i: number): string =>
  `// ${String(i).repeat(20_000).slice(0, 40_000)}\nstream|from().measurement('none')`;

async function get(path: string): Promise<{ readonly status: number; readonly json: any }> {
  const response = await fetch(engine?.engine + path);
  return { status: response.status, json: await response.json() };
}

describe.skipIf(!canMountTmpfs())('an engine on a full disk', () => {
  test('refuses definitions with the reason, tasks go on, freed space is used without a restart', async () => {
    directory = await makeDirectory();
    const script = `mount -t tmpfs -o size=24m tmpfs "$0" && head -c 16m /dev/zero > "$0/ballast" && exec "$@"`;
    engine = await startTidemark({
      command: 'engine',
      directory,
      wrapper: ['unshare', '-rm', 'sh', '-c', script, directory],
    });
    const watch = "stream|from().measurement('m')|httpOut('out')";
    expect(await define('watch', watch)).toEqual({ status: 200, error: '' });

    let refused = { status: 200, error: '' };
    let defined = 0;
    for (; defined < TASKS_MAX && refused.status === 200; defined++) {
      refused = await define(`large-${defined}`, large(defined));
    }
    defined--;
    await write(engine.engine, 'd', 'm v=1 1', { rp: 'r' });
    const output = await get('/engine/v1/tasks/watch/out');
    const during = await get('/engine/v1/tasks?limit=10000&fields=id');
    const absent = await get(`/engine/v1/tasks/large-${defined}`);
    rmSync(`/proc/${engine.process.pid}/root${join(directory, 'ballast')}`);
    const freed = await define('freed', large(1));

    expect(refused.status).toBe(503);
    expect(refused.error).toContain('metadata can not be written');
    expect(defined).toBeGreaterThan(0);
    expect(output.json.series[0].values[0][1]).toBe(1);
    expect(during.json.tasks.length).toBe(defined + 1);
    expect(absent.status).toBe(404);
    expect(freed).toEqual({ status: 200, error: '' });
    expect(engine.process.exitCode).toBeNull();
  }, 120_000);
});
