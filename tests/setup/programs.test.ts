// Programs that tests start are in the table (packages/testkit/programs.json), tests declare them
// before they start them, and continuous integration installs them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ESSENTIAL_PROGRAMS, PEER_PACKAGES, programPath, run } from '@tidemark/testkit';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PEERS = new Set(Object.values(PEER_PACKAGES).flat());

/**
 * Calls that start a program which is named there and then, and helpers that start one of their
 * own.
 */
const STARTS =
  /\b(?:spawn|spawnSync|execFile|execFileSync|run|start)\(\s*'([^'\s]+)'|\bprog: '([^'/]+)'|\bwrapper: \['([^']+)'/g;
const HELPERS = [{ call: /\bstartInfluxdb\(/, program: 'influxd' }];

const programsOf = (text: string): readonly string[] => [
  ...[...text.matchAll(STARTS)].map((found) => found[1] ?? found[2] ?? found[3] ?? ''),
  ...HELPERS.filter(({ call }) => call.test(text)).map(({ program }) => program),
];

const conditionsOf = (text: string): readonly string[] =>
  [...text.matchAll(/hasPrograms\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    [...names.matchAll(/'([^']+)'/g)].map(([, name = '']) => name),
  );

const testFiles = ['tests', 'packages'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => join(folder, file)),
);

describe('programs that tests start', () => {
  test('a program that is in no row is not found', async () => {
    expect(programPath('nproc')).toBeDefined();
    await expect(run('nproc', [])).rejects.toThrow('ENOENT');
  });

  test('a test that starts a program which may be missing names it in its condition', () => {
    const started = testFiles.map((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const named = conditionsOf(text);
      const peers = programsOf(text).filter((program) => PEERS.has(program));
      return { file, starts: peers.length, without: peers.filter((name) => !named.includes(name)) };
    });

    expect(started.filter(({ starts }) => starts > 0).length).toBeGreaterThan(10);
    expect(started.filter(({ without }) => without.length > 0)).toEqual([]);
  });

  test('nothing in the table is there for no test', () => {
    const texts = testFiles.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
    const named = new Set([...conditionsOf(texts), 'mount', 'unshare']);

    expect([...PEERS].filter((program) => !named.has(program))).toEqual([]);
  });
});

test('continuous integration installs the packages of the table', async () => {
  const listed = await run('bash', [join(ROOT, '.ci/run'), '--packages']);

  expect(listed).toMatchObject({ status: 0, stderr: '' });
  expect(listed.stdout.trimEnd().split('\n')).toEqual(Object.keys(PEER_PACKAGES));
});

// A program in the row of another package is installed on the machine of whoever wrote it, and
// nowhere else.
const DPKG = programPath('dpkg-query');
test.runIf(DPKG !== undefined)(
  'every program that is installed is in the package of its row',
  async () => {
    const rows = Object.entries(PEER_PACKAGES).flatMap(([name, programs]) =>
      programs.flatMap((program) => {
        const path = programPath(program);
        return path === undefined ? [] : [{ name, paths: [path, path.replace(/^\/usr\//, '/')] }];
      }),
    );
    const owners = await Promise.all(
      rows.map(async ({ paths }) => (await run(DPKG ?? '', ['-S', ...paths])).stdout),
    );

    // `python3` is made of `python3-minimal` and more.
    const strangers = rows.filter(
      ({ name }, i) => !new RegExp(`^${name}(-minimal)?:`, 'm').test(owners[i] ?? ''),
    );
    expect(strangers).toEqual([]);
    expect(ESSENTIAL_PROGRAMS.filter((program) => programPath(program) === undefined)).toEqual([]);
  },
);
