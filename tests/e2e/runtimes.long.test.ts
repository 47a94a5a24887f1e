// The Node.js that runs Tidemark (docs/adr/0029-runtime.md): the pinned one, whichever Node.js
// started it, and the system's on request. The other supported versions come from npm's registry,
// like the pinned one.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import {
  eventually,
  makeDirectory,
  query,
  removeDirectory,
  run,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BIN = join(ROOT, 'packages/cli/bin');
/** What another Node.js is given. */
const MODULE = join(BIN, 'tidemark.js');
const { pinnedNode } = createRequire(import.meta.url)(join(BIN, 'runtime.cjs')) as {
  readonly pinnedNode: () => string | undefined;
};
const PINNED = (
  JSON.parse(readFileSync(join(ROOT, 'packaging/runtime/package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  }
).optionalDependencies;
const PACKAGE = `node-${process.platform}-${process.arch}`;
/** The line that only starts the pinned program, and those that run Tidemark themselves. */
const OTHERS = { '20': '20.20.2', '22': '22.23.3', '24': '24.21.0' } as const;
type Line = keyof typeof OTHERS;

let directory = '';
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => removeDirectory(directory));

/** The program of another line, installed when it is asked for first. */
function nodeOf(line: Line): string {
  const place = join(directory, line);
  const node = join(place, 'node_modules', PACKAGE, 'bin/node');
  if (!existsSync(node)) {
    mkdirSync(place);
    const what = [`${PACKAGE}@${OTHERS[line]}`, '--no-save', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', '--prefix', place, ...what], { cwd: place });
  }
  return node;
}

/** The program that a process runs. */
const programOf = (server: Tidemark): string => readlinkSync(`/proc/${server.process.pid}/exe`);

/** Start, write, query, task, stop; and all of it is there after the restart. */
async function expectToWork(
  program: readonly string[],
  environment: Readonly<Record<string, string>>,
  runs: (server: Tidemark) => void,
): Promise<void> {
  const server = await startTidemark({ program, environment });
  try {
    runs(server);
    await query(server.tsdb, 'CREATE DATABASE d');
    await write(server.tsdb, 'd', 'm,host=a f=1 1');
    const script = "stream|from().measurement('m')|httpOut('last')";
    const dbrps = [{ db: 'd', rp: 'autogen' }];
    const body = JSON.stringify({ id: 't', type: 'stream', status: 'enabled', dbrps, script });
    const defined = await fetch(`${server.engine}/engine/v1/tasks`, { method: 'POST', body });
    expect(defined.status).toBe(200);
    const point = `${server.engine}/engine/v1/write?db=d&rp=autogen`;
    expect((await fetch(point, { method: 'POST', body: 'm,host=a f=2 2' })).status).toBe(204);
    await eventually('the point', async () => {
      const last = await fetch(`${server.engine}/engine/v1/tasks/t/last`);
      return (await last.text()).includes('"f"') ? true : undefined;
    });
    expect(await server.stop()).toBe(0);
    const again = await startTidemark({ program, environment, directory: server.directory });
    expect((await query(again.tsdb, 'SELECT f FROM m', 'd'))[0]?.values).toHaveLength(1);
    const tasks = await (await fetch(`${again.engine}/engine/v1/tasks`)).text();
    expect(tasks).toContain('"executing":true');
    expect(await again.stop()).toBe(0);
  } finally {
    await server.kill();
    await removeDirectory(server.directory);
  }
}

test('one version is pinned for all platforms, and the lock file has it for each', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'packaging/runtime/package-lock.json'), 'utf8'));

  expect(new Set(Object.values(PINNED)).size).toBe(1);
  for (const [name, version] of Object.entries(PINNED)) {
    expect(lock.packages[`node_modules/${name}`]).toMatchObject({ version, optional: true });
    expect(lock.packages[`node_modules/${name}`].integrity).toMatch(/^sha512-/);
  }
});

test('the command becomes the pinned program', async () => {
  await expectToWork([join(BIN, 'tidemark')], {}, (server) => {
    expect(programOf(server)).toBe(pinnedNode());
  });
  const { stdout } = await run(join(BIN, 'tidemark'), ['version', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ node: PINNED[PACKAGE], isPinned: true });
});

test('tests run on the pinned program', () => {
  expect(process.execPath).toBe(pinnedNode());
});

describe('another Node.js', () => {
  test('20 starts the pinned program and passes signals and the exit status on', async () => {
    const node = nodeOf('20');

    await expectToWork([node, MODULE], {}, (server) => {
      expect(programOf(server)).toBe(node);
    });
    const shown = await run(node, [MODULE, 'version', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ node: PINNED[PACKAGE], isPinned: true });
    expect(await run(node, [MODULE, 'nonsense'])).toMatchObject({ status: 2 });
  });

  test.each(['22', '24'] as const)('%s becomes the pinned program', async (line) => {
    await expectToWork([nodeOf(line), MODULE], {}, (server) => {
      expect(programOf(server)).toBe(pinnedNode());
    });
  });

  test.each(['22', '24'] as const)('%s runs Tidemark itself on demand', async (line) => {
    const environment = { TIDEMARK_NODE: 'system' };

    await expectToWork([nodeOf(line), MODULE], environment, (server) => {
      expect(programOf(server)).toBe(nodeOf(line));
    });
    const shown = await run(nodeOf(line), [MODULE, 'version', '--json'], { environment });
    expect(JSON.parse(shown.stdout)).toMatchObject({ node: OTHERS[line], isPinned: false });
  });

  test('20 says what it takes when it has to run Tidemark itself', async () => {
    const environment = { TIDEMARK_NODE: 'system' };

    expect(await run(nodeOf('20'), [MODULE, 'version'], { environment })).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'Tidemark needs Node.js 22.15 or newer; this is 20.20.2. Install a newer one, or unset TIDEMARK_NODE to use the one that comes with Tidemark.\n',
    });
  });

  test('a value that nobody knows is refused', async () => {
    const shown = await run(process.execPath, [MODULE, 'version'], {
      environment: { TIDEMARK_NODE: 'latest' },
    });

    expect(shown).toEqual({
      status: 1,
      stdout: '',
      stderr: 'TIDEMARK_NODE may be `system` or unset. value=`latest`\n',
    });
  });
});

test('a pinned program that does not run gives way to the system’s when it is installed', async () => {
  const place = join(directory, 'broken');
  const node = join(place, 'node_modules', PACKAGE, 'bin/node');
  mkdirSync(join(place, 'packages/cli'), { recursive: true });
  cpSync(BIN, join(place, 'packages/cli/bin'), { recursive: true });
  mkdirSync(join(node, '..'), { recursive: true });
  // As one that lacks a library: it starts, and ends at once.
  writeFileSync(node, '#!/bin/sh\nexit 127\n', { mode: 0o755 });

  const checked = await run('sh', ['packages/cli/bin/check-runtime.sh'], { directory: place });

  expect(checked.status).toBe(0);
  expect(checked.stderr).toContain('does not run here');
  const shown = await run(join(place, 'packages/cli/bin/node'), ['--version']);
  expect(shown).toMatchObject({ status: 0, stdout: `${process.version}\n` });
});
