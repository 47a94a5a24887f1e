// Tens of thousands of invented names: the memory that a measurement and a field may take, and that
// writes continue.
import { afterEach, expect, test } from 'vitest';

import { scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import type { StorageOptions } from '../options.ts';

const NAMES = 3000;
const names = Array.from({ length: NAMES }, (_, i) => i);
const BYTES_PER_NAME = 1024;

let storage: TestEngine;
afterEach(() => storage.dispose());

async function open(options: Partial<StorageOptions> = {}): Promise<void> {
  storage = await testEngine(options);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

async function counter(name: string): Promise<number> {
  return (await storage.engine.statistics()).counters[name] ?? Number.NaN;
}

test('a measurement takes less than a kilobyte in the memtable, and as much in the index', async () => {
  await open();
  await write(storage.engine, names.map((i) => `q${i} v=1 1\n`).join(''));

  expect(await counter('memtableBytes')).toBeLessThan(NAMES * BYTES_PER_NAME);
  // Tables of the index begin with some hundred kilobytes.
  expect(await counter('indexBytes')).toBeLessThan(NAMES * BYTES_PER_NAME);
});

const some = names.slice(0, 600);
const lineOf = (i: number): string => `m v${i}=${i} ${i}\n`;

test.each([
  ['in a request', [names.map(lineOf).join('')], NAMES],
  ['in a request each', some.map(lineOf), some.length],
  [
    'beside a row that has all',
    [`m ${some.map((i) => `v${i}=0`).join()} -1\n`, ...some.map(lineOf)],
    2 * some.length,
  ],
])('the value of a new field takes less than a kilobyte: %s', async (_, bodies, values) => {
  await open();
  for (const body of bodies) await write(storage.engine, body);

  expect(await counter('memtableBytes')).toBeLessThan(values * BYTES_PER_NAME);
});

test.each([
  ['in order', (i: number) => i],
  ['backwards', (i: number) => -i],
  ['of one time', () => 7],
  ['some of one time', (i: number) => (i * 31) % 400],
])(
  'rows with a field each are flushed and merged as they were read before: %s',
  async (_, time) => {
    await open();
    const lines = names.map((i) => `m,t=a v${i}=${i},s="t${i % 3}" ${time(i)}\n`);
    await write(storage.engine, lines.slice(0, 1500).join(''));
    await write(storage.engine, lines.slice(1500).join(''));
    const fields = [
      ['v0', 'float'],
      ['v1700', 'float'],
      ['v2999', 'float'],
      ['s', 'string'],
    ] as const;
    const before = await scanRows(storage.engine, 'm', fields);

    await storage.engine.flush();
    const flushed = await scanRows(storage.engine, 'm', fields);
    await write(storage.engine, 'm,t=a v0=5 3\n');
    await storage.engine.flush();
    await storage.engine.compact();
    const compacted = await scanRows(storage.engine, 'm', fields);

    expect(before.length).toBe(new Set(names.map(time)).size);
    expect(flushed).toEqual(before);
    expect(compacted.filter(([, at]) => at !== 3n)).toEqual(before.filter(([, at]) => at !== 3n));
  },
);

test('a start with more in the log than the memtable may have takes writes', async () => {
  const options: Partial<Mutable<StorageOptions>> = {};
  await open(options);
  await write(storage.engine, names.map((i) => `q${i} v=1 1\n`).join(''));
  options.memtableMaxBytes = 1 << 16;
  options.hasBackgroundWork = true;
  await storage.reopen('crash');

  await write(storage.engine, 'm v=1 1\n');

  expect(await counter('flushes')).toBe(1);
  expect(await scanRows(storage.engine, `q${NAMES - 1}`, [['v', 'float']])).toHaveLength(1);
});

test('the smallest memtable there can be takes any number of writes', async () => {
  await open({ memtableMaxBytes: 0, hasBackgroundWork: true });
  const bodies = Array.from({ length: 20 }, (_, i) => `m,t=${i} v=${i} ${i}\n`);

  await Promise.all(bodies.map((body) => write(storage.engine, body)));

  expect(await scanRows(storage.engine, 'm', [['v', 'float']])).toHaveLength(20);
});
