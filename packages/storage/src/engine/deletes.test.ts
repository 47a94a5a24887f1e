// Every kind of delete: which rows are gone, which stay, and that the space is released.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { POLICY, scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const WEEK = 604_800_000_000_000n;
const ROWS = 2000;
const LONG = { id: 2, retentionPolicy: 'long' };

let storage: TestEngine;

/**
 * Two measurements of two series in two shards of one policy, one shard in another, one in another
 * database.
 */
beforeEach(async () => {
  storage = await testEngine();
  for (const measurement of ['m', 'n']) {
    for (const series of ['a', 'b']) {
      for (const start of [0n, WEEK])
        await write(storage.engine, lines(measurement, series, start));
    }
  }
  await write(storage.engine, lines('m', 'a', 0n), LONG);
  await write(storage.engine, lines('m', 'a', 0n), { id: 3, database: 'other' });
  await storage.engine.flush();
  await storage.engine.compact();
});

afterEach(() => storage.dispose());

function lines(measurement: string, series: string, start: bigint): string {
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const text = Math.sin(i + 1).toString(36);
    return `${measurement},t=${series} f=${Math.cos(i)},s="${text}" ${start + BigInt(i)}`;
  });
  return rows.join('\n');
}

/** Rows per database, policy, measurement and series. */
async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [database, retentionPolicy] of [
    ['db', 'autogen'],
    ['db', 'long'],
    ['other', 'autogen'],
  ] as const) {
    for (const measurement of ['m', 'n']) {
      const rows = await scanRows(storage.engine, measurement, [['f', 'float']], {
        source: { database, retentionPolicy, measurement },
      });
      for (const [series] of rows) {
        const key = `${database}.${retentionPolicy} ${series}`;
        found[key] = (found[key] ?? 0) + 1;
      }
    }
  }
  return found;
}

/** Bytes of the segment files that are there. */
function diskBytes(): number {
  const names = readdirSync(storage.directory, { recursive: true, encoding: 'utf8' });
  const segments = names.filter((name) => name.endsWith('.seg'));
  return segments.reduce((sum, name) => sum + statSync(join(storage.directory, name)).size, 0);
}

const ALL: Readonly<Record<string, number>> = {
  'db.autogen m,t=a': 2 * ROWS,
  'db.autogen m,t=b': 2 * ROWS,
  'db.autogen n,t=a': 2 * ROWS,
  'db.autogen n,t=b': 2 * ROWS,
  'db.long m,t=a': ROWS,
  'other.autogen m,t=a': ROWS,
};

type Case = {
  readonly name: string;
  readonly remove: (engine: StorageEngine) => Promise<unknown>;
  /** The values expected afterwards; 0 means no rows. */
  readonly changed: Readonly<Record<string, number>>;
};

const tagIsA = { kind: 'tag', key: 't', operator: '=', value: 'a' } as const;

const CASES: readonly Case[] = [
  {
    name: 'a series of one measurement',
    remove: (engine) => engine.delete({ database: 'db', measurements: ['m'], where: tagIsA }),
    changed: { 'db.autogen m,t=a': 0, 'db.long m,t=a': 0 },
  },
  {
    name: 'series of all measurements of one policy',
    remove: (engine) =>
      engine.delete({ database: 'db', retentionPolicy: 'autogen', where: tagIsA }),
    changed: { 'db.autogen m,t=a': 0, 'db.autogen n,t=a': 0 },
  },
  {
    name: 'a measurement',
    remove: (engine) => engine.dropMeasurement('db', 'm'),
    changed: { 'db.autogen m,t=a': 0, 'db.autogen m,t=b': 0, 'db.long m,t=a': 0 },
  },
  {
    name: 'a range of times',
    remove: (engine) =>
      engine.delete({
        database: 'db',
        measurements: ['n'],
        timeRange: { start: 500n, end: WEEK + BigInt(ROWS) - 501n },
      }),
    changed: { 'db.autogen n,t=a': 1000, 'db.autogen n,t=b': 1000 },
  },
  {
    name: 'a shard',
    remove: async (engine) => engine.dropShard((await engine.shards())[0]?.id ?? 0),
    changed: {
      'db.autogen m,t=a': ROWS,
      'db.autogen m,t=b': ROWS,
      'db.autogen n,t=a': ROWS,
      'db.autogen n,t=b': ROWS,
    },
  },
  {
    name: 'a retention policy',
    remove: (engine) => engine.dropPolicy(LONG.id),
    changed: { 'db.long m,t=a': 0 },
  },
  {
    name: 'a database: all its policies',
    remove: async (engine) => {
      await engine.dropPolicy(POLICY.id);
      await engine.dropPolicy(LONG.id);
    },
    changed: {
      'db.autogen m,t=a': 0,
      'db.autogen m,t=b': 0,
      'db.autogen n,t=a': 0,
      'db.autogen n,t=b': 0,
      'db.long m,t=a': 0,
    },
  },
];

test.each(CASES)('$name: gone at once and for ever, the space comes back', async (one) => {
  const expected = Object.fromEntries(
    Object.entries({ ...ALL, ...one.changed }).filter(([, rows]) => rows > 0),
  );
  expect(await counts()).toEqual(ALL);
  const before = diskBytes();
  const share =
    Object.values(expected).reduce((a, b) => a + b, 0) /
    Object.values(ALL).reduce((a, b) => a + b, 0);

  await one.remove(storage.engine);
  expect(await counts()).toEqual(expected);
  await storage.reopen('crash');
  expect(await counts()).toEqual(expected);
  await storage.engine.compact();

  expect(await counts()).toEqual(expected);
  // Chunks of all series are of one size, so what is left takes its share, give or take headers.
  expect(diskBytes() / before).toBeLessThan(share * 1.1);
  expect(diskBytes() / before).toBeGreaterThan(share * 0.9);
  await storage.reopen();
  expect(await counts()).toEqual(expected);
});

test('dropped data leave memory and log too, and their names are free again', async () => {
  await write(storage.engine, 'm,t=new s=5i 7\n');
  await storage.engine.dropPolicy(POLICY.id);
  await storage.engine.dropPolicy(LONG.id);

  const outcome = await write(storage.engine, 'm,t=a f="text" 1\n', { id: 9 });

  expect(outcome.dropped).toBeUndefined();
  expect(await scanRows(storage.engine, 'm', [['f', 'string']])).toEqual([['m,t=a', 1n, 'text']]);
  await storage.reopen('crash');
  expect(await scanRows(storage.engine, 'm', [['f', 'string']])).toEqual([['m,t=a', 1n, 'text']]);
});

test.each(['close', 'crash'] as const)(
  'the id of a dropped shard is given to no other, not even after a %s',
  async (end) => {
    const largest = async (): Promise<number> =>
      Math.max(...(await storage.engine.shards()).map(({ id }) => id));
    let last = await largest();
    for (let round = 0; round < 2; round++) {
      await storage.engine.dropShard(last);
      await storage.reopen(end);
      await write(storage.engine, 'm v=1 1\n', { id: 20 + round, database: `new${round}` });
      const next = await largest();

      expect(next).toBeGreaterThan(last);
      last = next;
    }
  },
);
