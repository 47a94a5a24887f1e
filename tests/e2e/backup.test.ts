// Backups and restores of a running database, through the executable.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import {
  makeDirectory,
  query,
  removeDirectory,
  send,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';

let directory: string;
let server: Tidemark;

const NO_MONITOR = ['--monitor-store-enabled', 'false'];

beforeAll(async () => {
  directory = await makeDirectory();
  server = await startTidemark({
    command: 'tsdb',
    directory: join(directory, 'first'),
    args: NO_MONITOR,
  });
  await query(server.tsdb, 'CREATE DATABASE d WITH DURATION INF NAME main');
  await query(server.tsdb, 'CREATE DATABASE other');
  await write(server.tsdb, 'other', 'x f=1 1');
  await write(server.tsdb, 'd', lines(0));
  await send(`${server.tsdb}/api/documents?kind=dashboards&id=house&version=0`, {
    method: 'PUT',
    body: JSON.stringify({ title: 'House', content: {} }),
  });
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(directory);
});

function lines(from: number): string {
  const numbers = Array.from({ length: 2000 }, (_, i) => from + i);
  return numbers.map((i) => `m,host=h${i % 10} f=${i / 7},s="text ${i}" ${i}`).join('\n');
}

const path = (name: string): string => join(directory, name);

const countOf = async (of: Tidemark, database: string): Promise<unknown> => {
  const [series] = await query(of.tsdb, 'SELECT count(f), count(s) FROM m', database);
  return series?.values?.[0]?.slice(1);
};

async function json(args: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout, stderr, status } = await runInProcess([...args, '--json']);
  expect([stderr, status]).toEqual(['', 0]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('a full and an incremental backup come back in a new directory and beside the original', async () => {
  const url = ['--url', server.tsdb];
  const full = await json(['tsdb', 'backup', path('full'), ...url]);
  await write(server.tsdb, 'd', lines(2000));
  const next = await json(['tsdb', 'backup', path('next'), '--since', path('full'), ...url]);
  await query(server.tsdb, 'DROP MEASUREMENT m', 'd');

  const files = [path('full'), path('next')];
  const offline = await json(['tsdb', 'restore', ...files, '--data-dir', path('second')]);
  const renamed = await json(
    ['tsdb', 'restore', ...files, '--database', 'd', '--as', 'old'].concat(url),
  );

  expect(full).toMatchObject({
    file: path('full'),
    databases: ['d', 'other'],
    segments: 2,
    segmentsOfEarlierBackups: 0,
    sizeBytes: (await stat(path('full'))).size,
  });
  expect(next).toMatchObject({ segments: 1, segmentsOfEarlierBackups: 2 });
  expect(offline).toMatchObject({ databases: ['d', 'other'], shards: 2, documents: 1 });
  expect(renamed).toMatchObject({ databases: ['old'], documents: 0 });
  expect([offline['leftOut'], renamed['leftOut']]).toEqual([[], ['database other']]);
  expect(await countOf(server, 'old')).toEqual([4000, 4000]);
  const verified = await runInProcess(['tsdb', 'verify', '--data-dir', path('second')]);
  expect(verified.stdout).toContain('everything is readable');
  const second = await startTidemark({
    command: 'tsdb',
    directory: path('second'),
    args: NO_MONITOR,
  });
  expect(await countOf(second, 'd')).toEqual([4000, 4000]);
  expect(await query(second.tsdb, 'SHOW RETENTION POLICIES', 'd')).toMatchObject([
    { values: [['main', '0s', '168h0m0s', 1, true]] },
  ]);
  await second.stop();
}, 60_000);

test('an impossible backup is reported in a sentence and leaves no file', async () => {
  const url = ['--url', server.tsdb];
  await runInProcess(['tsdb', 'backup', path('whole'), ...url]);
  const { stdout } = await runInProcess([
    'tsdb',
    'backup',
    path('one'),
    '--database',
    'other',
    ...url,
  ]);
  const cases: readonly (readonly [args: readonly string[], text: string, status: number])[] = [
    [['backup', path('whole'), ...url], 'exists already', 1],
    [['backup', path('x'), '--database', 'none', ...url], 'database not found: none', 1],
    [['backup', path('x'), '--url', 'http://127.0.0.1:1'], 'does not answer', 1],
    [['restore', path('whole'), ...url], 'database d exists already', 1],
    [['restore', path('whole'), '--as', 'y', ...url], '--as needs --database', 2],
    [['restore', path('whole'), '--data-dir', path('first')], 'in use by process', 1],
  ];

  expect(stdout).toMatch(/^.*one: .* databases other, 1 segments\n$/);
  for (const [args, text, status] of cases) {
    const result = await runInProcess(['tsdb', ...args]);
    expect([result.stderr, result.status]).toEqual([expect.stringContaining(text), status]);
  }
  await expect(stat(path('x'))).rejects.toThrow('ENOENT');
  await expect(stat(path('x.partial'))).rejects.toThrow('ENOENT');
}, 60_000);
