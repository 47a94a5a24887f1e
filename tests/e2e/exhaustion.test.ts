// The real service when the machine runs out of disk space or file descriptors.
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import {
  canMountTmpfs,
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  startTidemark,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterEach, describe, expect, test } from 'vitest';

const NO_MONITOR = ['--monitor-store-enabled', 'false'];

let directory = '';
let server: Tidemark | undefined;

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await removeDirectory(directory);
});

/** Values that hardly compress. `batch` makes times and values of their own. */
function lines(batch: number, points: number): string {
  return Array.from({ length: points }, (_, i) => {
    const n = batch * points + i;
    return `m,t=a f=${Math.sin(n + 1)},g=${Math.cos(n + 1)} ${n}`;
  }).join('\n');
}

async function post(lineProtocol: string): Promise<{ status: number; error: string }> {
  const response = await fetch(`${server?.tsdb}/write?db=d`, {
    method: 'POST',
    body: lineProtocol,
  });
  const text = await response.text();
  return { status: response.status, error: text === '' ? '' : JSON.parse(text).error };
}

async function count(): Promise<number> {
  const [series] = await query(server?.tsdb ?? '', 'SELECT count(f) FROM m', 'd');
  return Number(series?.values?.[0]?.[1] ?? 0);
}

describe.skipIf(!canMountTmpfs())('a full disk', () => {
  test('refuses writes with the reason, reads go on, freed space is used without a restart', async () => {
    directory = await makeDirectory();
    // 40 MiB, of which a ballast takes 28, and one is kept for deletes. It goes with the last
    // process of its name space.
    const script = `mount -t tmpfs -o size=40m tmpfs "$0" && head -c 28m /dev/zero > "$0/ballast" && exec "$@"`;
    server = await startTidemark({
      command: 'tsdb',
      directory,
      args: NO_MONITOR,
      environment: { TIDEMARK_DATA_RESERVE_SIZE: '1m' },
      wrapper: ['unshare', '-rm', 'sh', '-c', script, directory],
    });
    await query(server.tsdb, 'CREATE DATABASE d');

    let acknowledged = 0;
    let refused = { status: 204, error: '' };
    const points = 20_000;
    let batch = 0;
    for (; batch < 200 && refused.status === 204; batch++) {
      refused = await post(lines(batch, points));
      if (refused.status === 204) acknowledged += points;
    }
    const during = await count();
    const again = await post(lines(batch, points));
    rmSync(`/proc/${server.process.pid}/root${join(directory, 'ballast')}`);
    const freed = await post(lines(batch + 1, points));
    const after = await count();

    expect(refused.status).toBe(503);
    expect(refused.error).toContain('no space left on device');
    expect(again.status).toBe(503);
    expect(during).toBe(acknowledged);
    expect(acknowledged).toBeGreaterThan(0);
    expect(freed).toEqual({ status: 204, error: '' });
    expect(after).toBe(acknowledged + points);
    await query(server.tsdb, 'CREATE DATABASE e');
  }, 120_000);
});

/** From now on the service has `spare` more descriptors than it uses at this moment. */
function limitDescriptors(spare: number): number {
  const pid = server?.process.pid;
  const limit = readdirSync(`/proc/${pid}/fd`).length + spare;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:${limit}`]);
  return limit;
}

describe.skipIf(!hasPrograms('prlimit'))('few file descriptors', () => {
  test('clients that take all of them are survived', async () => {
    directory = await makeDirectory();
    server = await startTidemark({ command: 'tsdb', directory, args: NO_MONITOR });
    await query(server.tsdb, 'CREATE DATABASE d');
    expect((await post('m f=1 1')).status).toBe(204);
    const { hostname, port } = new URL(server.tsdb);
    const limit = limitDescriptors(10);
    const clients = Array.from({ length: 40 }, () => connect(Number(port), hostname));
    // Those that get no descriptor are reset or wait; both is fine.
    for (const client of clients) client.on('error', () => undefined);
    while (readdirSync(`/proc/${server.process.pid}/fd`).length < limit) await setImmediate();

    for (const client of clients) client.destroy();

    expect(await post('m f=2 2')).toEqual({ status: 204, error: '' });
    expect(await count()).toBe(2);
    expect(server.process.exitCode).toBeNull();
  }, 60_000);
});
