// The executable itself: usage, configuration, ready line, exit statuses.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  makeDirectory,
  query,
  removeDirectory,
  runTidemark,
  send,
  startTidemark,
  write,
} from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let directory: string;

beforeAll(async () => {
  directory = await makeDirectory();
});

afterAll(() => removeDirectory(directory));

describe('usage', () => {
  test('--version prints the version', async () => {
    expect(await runTidemark(['--version'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as unknown,
    });
  });

  test('--help shows commands and examples', async () => {
    const help = await runTidemark(['--help']);

    expect(help.status).toBe(0);
    expect(help.stdout).toMatch(/Examples:.*tidemark up/s);
  });

  // `process.exit` may wait for a thread of V8 forever, which `--trace-exit` would tell.
  test('commands and services end by themselves, with their status', async () => {
    const environment = { NODE_OPTIONS: '--trace-exit' };
    const up = await startTidemark({ environment });

    expect(await up.stop()).toBe(0);
    expect(up.errorOutput()).not.toContain('Exited');
    for (const [command, status] of [
      ['--help', 0],
      ['serve', 2],
    ] as const) {
      const ended = await runTidemark([command], environment);
      expect(ended).toMatchObject({ status });
      expect(ended.stderr).not.toContain('Exited');
    }
    await removeDirectory(up.directory);
  });

  test('a service with an unexpected failure closes, and ends by itself with its status', async () => {
    const fault = join(directory, 'fault.cjs');
    await writeFile(
      fault,
      `require('node:worker_threads').isMainThread &&
        process.on('SIGUSR2', () => setImmediate(() => { throw new Error('made up'); }));`,
    );
    const environment = { NODE_OPTIONS: `--trace-exit --require=${fault}` };
    const up = await startTidemark({ environment });
    await query(up.tsdb, 'CREATE DATABASE d');
    await write(up.tsdb, 'd', 'm v=1 1');

    const ended = once(up.process, 'exit');
    up.process.kill('SIGUSR2');

    expect(await ended).toEqual([1, null]);
    expect(up.errorOutput()).toContain('unexpected failure; stopping');
    expect(up.errorOutput()).not.toContain('Exited');
    const again = await startTidemark({ directory: up.directory });
    expect((await query(again.tsdb, 'SELECT v FROM m', 'd'))[0]?.values).toHaveLength(1);
    await again.stop();
    await removeDirectory(up.directory);
  });

  test('an unknown command and an unknown flag end with status 2', async () => {
    expect(await runTidemark(['serve'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("unknown command 'serve'") as unknown,
    });
    expect(await runTidemark(['tsdb', '--no-such-flag'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--no-such-flag') as unknown,
    });
  });
});

describe('configuration', () => {
  test.each(['up', 'tsdb', 'engine'])('the printed default for %s is accepted', async (command) => {
    const printed = await runTidemark(['config', 'default', '--for', command]);
    const file = join(directory, `${command}.toml`);
    await writeFile(file, printed.stdout);

    expect(await runTidemark(['config', 'check', file, '--for', command])).toMatchObject({
      status: 0,
    });
  });

  test('a wrong value names file, key and what is allowed, and ends with status 2', async () => {
    const file = join(directory, 'wrong.toml');
    await writeFile(file, '[data]\nfield-types = "sometimes"\n[http]\nmax-body-sise = 1\n');

    const started = await runTidemark(['tsdb', '--config', file, '--data-dir', directory]);

    expect(started.status).toBe(2);
    expect(started.stderr).toContain(
      `${file}: data.field-types: "sometimes" is not allowed; expected one of "shard", "measurement"`,
    );
    expect(started.stderr).toContain(`${file}: http.max-body-sise: unknown key`);
  });

  test('a file that is not TOML names line and column', async () => {
    const file = join(directory, 'broken.toml');
    await writeFile(file, '[http]\nbind-address = \n');

    const started = await runTidemark(['tsdb', '--config', file, '--data-dir', directory]);

    expect(started.status).toBe(2);
    expect(started.stderr).toMatch(/broken\.toml is not valid TOML at line 2/);
  });

  test('the file is heard, the environment over it, a flag over both', async () => {
    const file = join(directory, 'limit.toml');
    await writeFile(
      file,
      '[http]\nstrict-verbs = true\nstrict-precision = false\nmax-body-size = 10\n',
    );
    const server = await startTidemark({
      command: 'tsdb',
      args: ['--config', file, '--http-max-body-size', '60'],
      environment: {
        TIDEMARK_HTTP_STRICT_PRECISION: 'true',
        TIDEMARK_HTTP_MAX_BODY_SIZE: '1k',
      },
    });
    try {
      const create = `${server.tsdb}/query?q=CREATE%20DATABASE%20d`;
      const write = async (search: string, sizeBytes: number): Promise<number> => {
        const body = 'm f=1 1'.padEnd(sizeBytes);
        return (await fetch(`${server.tsdb}/write?db=d${search}`, { method: 'POST', body })).status;
      };
      expect((await fetch(create)).status).toBe(400);
      expect((await fetch(create, { method: 'POST' })).status).toBe(200);
      expect(await write('&precision=d', 10)).toBe(400);
      expect([await write('', 50), await write('', 100)]).toEqual([204, 413]);
    } finally {
      await server.stop();
      await removeDirectory(server.directory);
    }
  }, 60_000);
});

test.each([
  ['engine', (to: string) => `data_dir = "${to}"\n`, 'engine-owner.json'],
  ['tsdb', (to: string) => `[data]\ndir = "${to}"\n`, 'tsdb'],
])('%s keeps its data where the file says when no flag does', async (command, text, kept) => {
  const folder = join(directory, `kept-${command}`);
  const file = join(directory, `folder-${command}.toml`);
  await writeFile(file, text(join(folder, 'data')));
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  const { port } = blocker.address() as AddressInfo;
  const bind = `127.0.0.1:${port}`;

  // The address is taken, so that the service takes its folder and ends.
  const started = await runTidemark([command, '--config', file, '--bind', bind], { directory });

  blocker.close();
  expect(started.status).toBe(1);
  expect(await readdir(join(folder, 'data'))).toContain(kept);
  expect(await readdir(directory)).not.toContain('data');
});

describe('starting', () => {
  test('a port in use gives a sentence, not a stack', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as AddressInfo;

    const started = await runTidemark([
      'tsdb',
      '--data-dir',
      join(directory, 'port'),
      '--bind',
      `127.0.0.1:${port}`,
    ]);

    blocker.close();
    expect(started.status).toBe(1);
    expect(started.stderr).toContain(`127.0.0.1:${port}`);
    expect(started.stderr).toMatch(/already in use/);
    expect(started.stderr).not.toMatch(/\n\s+at /);
  });

  test.each([
    ['tsdb', '--bind'],
    ['engine', '--bind'],
    ['up', '--ui-bind'],
  ])('%s refuses an open address without authentication', async (command, option) => {
    const started = await runTidemark([
      command,
      '--data-dir',
      join(directory, `open-${command}`),
      option,
      '0.0.0.0:0',
    ]);

    expect(started.status).toBe(2);
    expect(started.stderr).toContain('--insecure-no-auth');
  });

  test.each([
    ['--database-http-auth-enabled', 'engine.http.auth-enabled'],
    ['--engine-http-auth-enabled', 'database.http.auth-enabled'],
  ])('the page stays on loopback when only %s is given', async (option, missing) => {
    const data = ['--data-dir', join(directory, `page-${missing}`)];
    const started = await runTidemark(['up', ...data, option, 'true', '--ui-bind', '0.0.0.0:0']);

    expect(started.status).toBe(2);
    expect(started.stderr).toContain('ui.bind-address is 0.0.0.0:0');
    expect(started.stderr).toContain(`Turn it on (${missing} = true)`);
  });

  // Without /proc the flags cannot be read.
  test.runIf(process.platform === 'linux').each([
    ['the command line', { args: ['--profile', 'small'] }, '20'],
    ['the environment', { environment: { TIDEMARK_PROFILE: 'small' } }, '20'],
    ['nothing', {}, undefined],
  ] as const)('the heap stays small when %s asks for it', async (_by, options, percent) => {
    const server = await startTidemark({ command: 'tsdb', ...options });
    try {
      const line = await readFile(`/proc/${server.process.pid}/cmdline`, 'utf8');
      expect(/--heap-growing-percent=(\d+)/.exec(line)?.[1]).toBe(percent);
    } finally {
      expect(await server.stop()).toBe(0);
      await removeDirectory(server.directory);
    }
  });

  test('the ready line names what runs; metrics are served for Prometheus, the heap for browsers', async () => {
    const secret = `hush-${process.pid}`;
    const server = await startTidemark({ args: ['--database-http-shared-secret', secret] });
    try {
      expect(server.tsdb).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(server.engine).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(server.ui).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      for (const url of [`${server.tsdb}/metrics`, `${server.engine}/metrics`]) {
        const text = await (await fetch(url)).text();
        expect(text).toMatch(/^# TYPE process_cpu_seconds_total counter$/m);
      }
      // One at a time: nothing else runs meanwhile.
      const snapshots = await Promise.all(
        [1, 2, 3].map(() => send(`${server.tsdb}/debug/pprof/heap`)),
      );
      expect(snapshots.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
      const heap = snapshots.find(({ status }) => status === 200)?.text ?? '';
      expect(heapFaults(JSON.parse(heap) as HeapSnapshot)).toEqual([]);
      expect(heap).not.toContain(secret);
      const line = (await send(`${server.engine}/engine/v1/debug/pprof/cmdline`)).text;
      expect(line).toContain('--database-http-shared-secret\0[REDACTED]');
    } finally {
      expect(await server.stop()).toBe(0);
      await removeDirectory(server.directory);
    }
  });
});

type HeapSnapshot = {
  readonly snapshot: {
    readonly meta: Readonly<Record<'node_fields' | 'edge_fields', readonly string[]>>;
    readonly node_count: number;
    readonly edge_count: number;
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
};

/**
 * Faults that would keep a browser's memory panel from reading a snapshot: tables whose sizes or
 * counts do not match.
 */
function heapFaults({ snapshot, nodes, edges, strings }: HeapSnapshot): readonly string[] {
  const { meta, node_count: nodeCount, edge_count: edgeCount } = snapshot;
  const name = meta.node_fields.indexOf('name');
  const target = meta.edge_fields.indexOf('to_node');
  const { length: nodeFields } = meta.node_fields;
  const { length: edgeFields } = meta.edge_fields;
  const faults: string[] = [];
  if (nodeCount < 1000 || nodes.length !== nodeCount * nodeFields) faults.push('nodes');
  if (edges.length !== edgeCount * edgeFields) faults.push('edges');
  const isNamed = (_: number, i: number): boolean =>
    i % nodeFields !== name || strings[nodes[i] ?? -1] !== undefined;
  if (!nodes.every(isNamed)) faults.push('names of nodes');
  const isLinked = (to: number, i: number): boolean =>
    i % edgeFields !== target || (to < nodes.length && to % nodeFields === 0);
  if (!edges.every(isLinked)) faults.push('targets of edges');
  return faults;
}
