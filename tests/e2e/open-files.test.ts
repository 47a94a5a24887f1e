// A database with more segments than the process may open files.
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

import { openStorageInline } from '@tidemark/storage';

import {
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  run,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SHARDS = 150;
const OPEN_FILES = 512;
const HOUR_NANOS = 3_600_000_000_000n;

let directory: string;
let server: Tidemark;

const start = (openFilesMax?: number): Promise<Tidemark> =>
  startTidemark({
    command: 'tsdb',
    directory,
    args: ['--monitor-store-enabled', 'false'],
    openFilesMax,
  });

const countOf = async (of: Tidemark): Promise<unknown> => {
  const [series] = await query(of.tsdb, 'SELECT count(f), sum(f) FROM m', 'd');
  return series?.values?.[0]?.slice(1);
};

beforeAll(async () => {
  directory = await makeDirectory();
  const first = await start();
  await query(first.tsdb, 'CREATE DATABASE d WITH DURATION INF SHARD DURATION 1h NAME main');
  const hours = Array.from({ length: SHARDS }, (_, i) => i);
  await write(first.tsdb, 'd', hours.map((i) => `m f=${i} ${BigInt(i) * HOUR_NANOS}`).join('\n'));
  await first.stop();
  const engine = await openStorageInline({ directory: join(directory, 'tsdb', 'data') });
  await engine.flush();
  await engine.close();
  // Loading its modules takes some three hundred at once; a quarter of the rest is for segments.
  server = await start(OPEN_FILES);
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(directory);
});

test('is read whole and in parts, and holds fewer files than it has segments', async () => {
  const folders = await readdir(join(directory, 'tsdb', 'data', 'shards'));
  expect(folders.length).toBe(SHARDS);

  expect(await countOf(server)).toEqual([SHARDS, SUM]);
  expect(await rowsOfParts()).toEqual(Array.from({ length: 10 }, () => 10));

  const held = await heldFiles();
  expect(held.segments).toBeGreaterThan(50);
  expect(held.segments).toBeLessThan(SHARDS);
});

test.skipIf(!hasPrograms('prlimit'))('is read and written when no descriptor is left', async () => {
  const { others, segments } = await heldFiles();
  const limit = `--nofile=${others + 6}:${OPEN_FILES}`;
  const lowered = await run('prlimit', ['--pid', String(server.process.pid), limit]);
  expect(lowered).toMatchObject({ status: 0, stderr: '' });

  expect(await rowsOfParts()).toEqual(Array.from({ length: 10 }, () => 10));
  await write(server.tsdb, 'd', `m f=1000 ${BigInt(SHARDS + 3) * HOUR_NANOS}`);
  expect(await countOf(server)).toEqual([SHARDS + 1, SUM + 1000]);
  // Some were given back for what had to be opened.
  expect((await heldFiles()).segments).toBeLessThan(segments);
});

const SUM = (SHARDS * (SHARDS - 1)) / 2;

/** Rows of ten stretches of ten hours, asked for one after the other on one connection. */
async function rowsOfParts(): Promise<readonly unknown[]> {
  const counts: unknown[] = [];
  for (let i = 0; i < 10; i++) {
    const range = `time >= ${i * 10}h AND time < ${i * 10 + 10}h`;
    const [series] = await query(server.tsdb, `SELECT f FROM m WHERE ${range}`, 'd');
    counts.push(series?.values?.length);
  }
  return counts;
}

async function heldFiles(): Promise<{ readonly segments: number; readonly others: number }> {
  const folder = `/proc/${server.process.pid}/fd`;
  const names = await readdir(folder);
  const paths = await Promise.all(
    // A descriptor closed meanwhile is skipped.
    names.map((name) => readlink(join(folder, name)).catch(() => undefined)),
  );
  const held = paths.filter((path) => path !== undefined);
  const segments = held.filter((path) => path.endsWith('.seg')).length;
  return { segments, others: held.length - segments };
}
