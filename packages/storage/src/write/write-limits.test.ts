// Limits of one write: shards, and lines that cannot be parsed.
import { afterEach, expect, test } from 'vitest';

import { scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const WEEK = 604_800_000_000_000n;

let storage: TestEngine;
afterEach(() => storage.dispose());

const weeks = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `m v=${from + i} ${BigInt(from + i) * WEEK}\n`).join(
    '',
  );

test('points in more shards than a write may have are refused, with the setting; the others are written', async () => {
  storage = await testEngine({ ingest: { maxShards: 10 } });
  await write(storage.engine, weeks(0, 8));

  const outcome = await write(storage.engine, weeks(4, 20) + weeks(4, 6));

  expect(outcome.pointsWritten).toBe(12);
  expect(outcome.dropped?.count).toBe(6);
  expect(outcome.dropped?.reason).toContain('max-shards-per-write limit exceeded: (10)');
  expect(outcome.dropped?.reason).toContain('data.max-shards-per-write');
  expect(await scanRows(storage.engine, 'm', [['v', 'float']])).toHaveLength(14);
  expect(await storage.engine.shards()).toHaveLength(14);
  // Existing shards count too: each of them gets a file of its own.
  expect((await write(storage.engine, weeks(0, 12))).dropped?.count).toBe(2);
});

test('a point with a text that is too long is refused, and the others of its write are not', async () => {
  storage = await testEngine({ ingest: { maxTextBytes: 10 } });
  const lines = [
    'm s="0123456789" 1',
    'm s="0123456789a" 2',
    'm s="123456789" 3',
    // Ten bytes without the escapes.
    'm s="01234567\\"8" 4',
    'm s="\u00fc123456789" 5',
  ];

  const outcome = await write(storage.engine, lines.join('\n'));

  expect(outcome.pointsWritten).toBe(3);
  expect(outcome.dropped?.count).toBe(2);
  expect(outcome.dropped?.reason).toBe(
    'max-text-size limit exceeded: (11/10): input field "s" on measurement "m" (data.max-text-size)',
  );
  expect(outcome.rejectedLines?.map(({ lineNumber }) => lineNumber)).toEqual([2, 5]);
  expect(await scanRows(storage.engine, 'm', [['s', 'string']])).toHaveLength(3);
});

test('the limit of texts is 64 KiB unless it is set, and 0 is none', async () => {
  storage = await testEngine();
  const line = (length: number): string => `m s="${'x'.repeat(length)}" ${length}`;
  expect((await write(storage.engine, line(65_536))).pointsWritten).toBe(1);
  expect((await write(storage.engine, line(65_537))).dropped?.count).toBe(1);
  await storage.dispose();
  storage = await testEngine({ ingest: { maxTextBytes: 0 } });

  expect((await write(storage.engine, line(2_000_000))).pointsWritten).toBe(1);
});

test('lines after too many bad ones are not read, and the answer says so', async () => {
  storage = await testEngine({ ingest: { maxBadLines: 100 } });
  const bad = Array.from({ length: 150 }, (_, i) => `bad${i}\n`).join('');

  const outcome = await write(storage.engine, `m v=1 1\n${bad}m v=2 2\n`);

  expect(outcome.pointsWritten).toBe(1);
  expect(outcome.parseErrors).toHaveLength(101);
  expect(outcome.parseErrors[99]).toContain('bad99');
  expect(outcome.parseErrors[100]).toMatch(
    /max-bad-lines limit exceeded: \(100\).*data.max-bad-lines/,
  );
  expect(await scanRows(storage.engine, 'm', [['v', 'float']])).toEqual([['m', 1n, 1]]);
});

test('so many bad lines and no more are the end of no write', async () => {
  storage = await testEngine({ ingest: { maxBadLines: 3 } });
  const outcome = await write(storage.engine, 'm v=1 1\na\nb\nm v=2 2\n\nc');

  expect(outcome.pointsWritten).toBe(2);
  expect(outcome.parseErrors).toHaveLength(3);
});

test('bad lines of all parts of a large write count together', async () => {
  storage = await testEngine({ ingest: { maxBadLines: 100 } });
  // Parts end after some hundred thousand values.
  const good = Array.from({ length: 300_000 }, (_, i) => `m v=${i} ${i}\n`).join('');
  const bad = 'bad\n'.repeat(60);

  const outcome = await write(storage.engine, `${bad}${good}${bad}m v=1 -1\n`);

  expect(outcome.pointsWritten).toBe(300_000);
  expect(outcome.parseErrors).toHaveLength(101);
});
