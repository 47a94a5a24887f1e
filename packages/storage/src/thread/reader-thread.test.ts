// A reader in a thread of its own, beside the storage thread.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { aggregateRows, EVERYTHING, write } from '../testing/fixtures.ts';
import { openStorage } from './open-storage.ts';
import type { ThreadedEngine } from './open-storage.ts';

let directory: string;
let engine: ThreadedEngine;

const options = (): Parameters<typeof openStorage>[0] => ({
  directory,
  queryThreads: 1,
  readerRowsMin: 1,
});

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reader-thread-'));
  engine = await openStorage(options());
});

afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

function sums(): ReturnType<typeof aggregateRows> {
  const aggregates = [{ field: 'f', type: 'float', functions: ['count', 'sum'] }] as const;
  return aggregateRows(engine, 'm', aggregates, { timeRange: EVERYTHING });
}

test('aggregates of a reader, of segments and of rows in memory', async () => {
  const lines = (from: number): string =>
    Array.from({ length: 100 }, (_, i) => `m,t=a${i % 3} f=${i} ${from + i}\n`).join('');
  await write(engine, lines(0));
  await engine.flush();
  await write(engine, lines(1000));
  const before = await sums();
  await engine.compact();
  await engine.delete({ database: 'db', timeRange: { start: 0n, end: 99n } });

  expect(before).toMatchObject([{ values: [[200n], [9900]] }]);
  expect(await sums()).toMatchObject([{ values: [[100n], [4950]] }]);
});
