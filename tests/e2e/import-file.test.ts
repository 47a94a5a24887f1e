// Importing a file of points or an export into a running database: refused lines are reported by
// file and line, other files are recognised, and old points do not reach subscriptions.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import {
  eventually,
  query,
  removeDirectory,
  startTidemark,
  TestServer,
  write,
} from '@tidemark/testkit';
import type { RunResult, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';

let server: Tidemark;
const subscriber = new TestServer(() => ({ status: 204 }));
const notified = (): string => subscriber.requests.map(({ body }) => body).join('');

beforeAll(async () => {
  server = await startTidemark({ command: 'tsdb', args: ['--monitor-store-enabled', 'false'] });
  await subscriber.open();
  await query(server.tsdb, 'CREATE DATABASE watched; CREATE DATABASE strict');
  await query(
    server.tsdb,
    `CREATE SUBSCRIPTION s ON watched.autogen DESTINATIONS ALL '${subscriber.url}'`,
  );
});

afterAll(async () => {
  await server.stop();
  await subscriber.close();
  await removeDirectory(server.directory);
});

const path = (name: string): string => join(server.directory, name);
const importing = (...args: string[]): Promise<RunResult> =>
  runInProcess(['tsdb', 'import', '--url', server.tsdb, ...args]);

async function fileOf(name: string, content: string | Buffer): Promise<string> {
  await writeFile(path(name), content);
  return path(name);
}

async function valuesOf(database: string, measurement: string): Promise<unknown> {
  const rows = await query(server.tsdb, `SELECT f FROM ${measurement}`, database, { epoch: 'ns' });
  return rows[0]?.values;
}

describe('lines that are refused', () => {
  const MIXED = [
    '# DML',
    '# CONTEXT-DATABASE: strict',
    'a f=1 1',
    'a f="two',
    'lines" 2',
    '',
    'no fields',
    'b f="one\ntwo" 1',
    'a f=3 3',
    'a f="x" 4',
    '',
  ].join('\n');

  test('are named by file and line, and the counts are exact', async () => {
    const file = await fileOf('mixed.txt', MIXED);

    const { status, stdout } = await importing('--file', file, '--json');

    const report = JSON.parse(stdout) as { errors: string[] };
    expect(status).toBe(1);
    expect(report).toMatchObject({ inserts: 3, failedInserts: 3, unlistedErrors: 0 });
    expect(report.errors).toHaveLength(3);
    // In the order of the file, as it was found out: what does not parse, then what contradicts.
    expect(report.errors.toSorted().map((text) => text.slice(0, file.length + 4))).toEqual([
      `${file}:11:`,
      `${file}:4: `,
      `${file}:7: `,
    ]);
    expect(report.errors.join('\n')).toContain('field type conflict');
    expect(await valuesOf('strict', 'a')).toEqual([
      [1, 1],
      [3, 3],
    ]);
  });

  test('are listed on a terminal too, twenty of them', async () => {
    const bad = Array.from({ length: 30 }, (_, i) => `bad${i}`).join('\n');
    const file = await fileOf('bad.txt', `# DML\n# CONTEXT-DATABASE:strict\n${bad}\nc f=1 1\n`);

    const { status, stdout } = await importing('--file', file);

    const lines = stdout.trimEnd().split('\n');
    expect(status).toBe(1);
    expect(lines[0]).toBe('1 points imported, 30 failed');
    expect(lines[1]).toMatch(new RegExp(`^${file}:3: missing fields: bad0$`));
    expect(lines[21]).toBe('and 10 more');
  });
});

describe('what a file is', () => {
  test('points without a heading go into the database that is named', async () => {
    const file = await fileOf('points.lp.gz', gzipSync('plain,t=a\\ b f=1 1\nset value=1,f=2 1\n'));

    const imported = await importing('--file', file, '--database', 'strict');

    expect(imported).toMatchObject({ status: 0 });
    expect(await valuesOf('strict', 'plain')).toEqual([[1, 1]]);
    expect(await valuesOf('strict', '"set"')).toEqual([[1, 2]]);
    const nowhere = await importing('--file', file);
    expect(nowhere).toMatchObject({ status: 2, stdout: '' });
    expect(nowhere.stderr).toContain(`${file}:1: no database for this point; give --database`);
  });

  test.each([
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]), 'is a binary file'],
    ['packed bytes', gzipSync(Buffer.from([0, 1, 2, 3, 4])), 'is a binary file'],
    ['a TSM file', Buffer.from([0x16, 0xd1, 0x16, 0xd1, 1]), 'influx_inspect export'],
    ['a backup of ours', Buffer.from('TDMBAK\u0002'), 'tidemark tsdb restore'],
  ])('%s is refused after its first bytes', async (name, content, advice) => {
    const file = await fileOf(name.replaceAll(' ', '-'), content);

    const refused = await importing('--file', file);

    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain(advice);
    expect(refused.stderr.length).toBeLessThan(500);
  });

  test.each([
    ['portable', '20240501T101112Z.manifest', 'influxd restore -portable'],
    ['older', 'meta.00', 'influxd restore'],
    ['some', 'notes.txt', 'give the file of an export'],
  ])('a directory: %s', async (name, content, advice) => {
    await mkdir(path(name));
    await writeFile(join(path(name), content), '{}');

    const refused = await importing('--file', path(name));

    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain(advice);
  });

  test('a cut gzip file keeps what was whole, and says so', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `cut f=${Math.sin(i)} ${i}`).join('\n');
    const whole = gzipSync(lines);
    const file = await fileOf('cut.gz', whole.subarray(0, whole.length / 2));

    const cut = await importing('--file', file, '--database', 'strict');

    expect(cut.status).toBe(1);
    expect(cut.stdout).toContain(`is not a whole gzip file`);
    const [count = '0'] = cut.stdout.split(' ');
    expect(Number(count)).toBeGreaterThan(0);
    const stored = await query(server.tsdb, 'SELECT count(f) FROM cut', 'strict');
    expect(stored[0]?.values?.[0]?.[1]).toBe(Number(count));
  });

  test('a database that does not exist stops the import', async () => {
    const file = await fileOf('absent.txt', 'a f=1 1\n');

    const stopped = await importing('--file', file, '--database', 'absent');

    expect(stopped).toMatchObject({ status: 1, stdout: '' });
    expect(stopped.stderr).toContain('database not found');
    expect(stopped.stderr).toContain('CREATE DATABASE "absent"');
  });
});

describe('subscribers', () => {
  test('get no old points', async () => {
    const file = await fileOf('old.txt', 'old f=1 1\n');

    const imported = await importing('--file', file, '--database', 'watched');
    await write(server.tsdb, 'watched', 'fresh f=1 2');

    expect(imported.stdout).toContain('1 points imported, 0 failed\n');
    expect(imported.stdout).toContain('subscriptions and tasks did not get these points');
    await eventually('the write after it', async () =>
      notified().includes('fresh') ? true : undefined,
    );
    expect(notified()).not.toContain('old');
  });

  test('get them when they are asked for', async () => {
    const file = await fileOf('asked.txt', 'asked f=1 1\n');

    const imported = await importing('--file', file, '--database', 'watched', '--notify');

    expect(imported.stdout).toBe('1 points imported, 0 failed\n');
    await eventually('the points', async () => (notified().includes('asked') ? true : undefined));
  });

  test('of a running server stay where they are, which is said; they get nothing either', async () => {
    const target = await startTidemark({ command: 'tsdb' });
    try {
      await write(server.tsdb, 'watched', 'moved f=1 1');
      await query(server.tsdb, 'DROP DATABASE strict');
      const state = path('state.json');

      const copied = await runInProcess(
        ['tsdb', 'import', '--from', server.tsdb, '--url', target.tsdb].concat(['--state', state]),
      );

      expect(copied).toMatchObject({ status: 0 });
      expect(copied.stdout).toMatch(
        /not copied: subscription s on watched\.autogen \(ALL .*127\.0\.0\.1.*\); make it again/,
      );
      expect(copied.stdout).toContain('subscriptions and tasks did not get these points');
    } finally {
      await target.stop();
      await removeDirectory(target.directory);
    }
  });
});
