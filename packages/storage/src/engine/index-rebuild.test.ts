// Rebuilding indexes without deleted series: memory and files stay bounded, everything else stays
// the same.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import { joinBackups, storeBackup } from '../backup/chain.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { POLICY, scanRows, schemaBatches, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { inspectDirectory } from '../tools/inspect.ts';
import { verifyDirectory } from '../tools/verify.ts';
import { eachBatch } from '@tidemark/query';

const WEEK = 604_800_000_000_000n;
const SERIES = 800;
/** A clean stop writes a checkpoint for so many. */
const CHECKPOINT_SERIES = 2500;
const FIELDS = [['f', 'float']] as const;

let storage: TestEngine;

afterEach(() => storage.dispose());

async function open(): Promise<void> {
  storage = await testEngine({ deletedSeriesMin: 300 });
}

/** Series of a round in a measurement, in the shard of a week. */
function lines(
  round: number,
  options: { measurement?: string; week?: number; count?: number } = {},
): string {
  const { measurement = 'm', week = 0, count = SERIES } = options;
  const time = BigInt(week) * WEEK;
  const rows = Array.from(
    { length: count },
    (_, i) => `${measurement},round=r${round},id=x${round}-${i},dc=dc${i % 7} f=${i} ${time}`,
  );
  return rows.join('\n');
}

async function indexBytes(): Promise<number> {
  return (await storage.engine.statistics()).counters['indexBytes'] ?? 0;
}

async function rebuilds(): Promise<number> {
  return (await storage.engine.statistics()).counters['indexRenewals'] ?? 0;
}

function indexFileBytes(): number {
  const directory = join(storage.directory, 'index');
  const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function seriesKeys(): Promise<string[]> {
  const batches = await schemaBatches(storage.engine, {
    kind: 'series',
    filter: { database: 'db' },
  });
  return batches.flatMap((batch) => (batch.kind === 'series' ? [...batch.keys] : []));
}

function deleteRound(round: number): Promise<void> {
  return storage.engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 'round', operator: '=', value: `r${round}` },
  });
}

/** The possible results of the rounds: the series of round `round` are gone afterwards. */
const REMOVALS: readonly ((round: number) => Promise<unknown>)[] = [
  deleteRound,
  () => storage.engine.dropMeasurement('db', 'm'),
  () => storage.engine.delete({ database: 'db', timeRange: { start: -WEEK, end: 90n * WEEK } }),
  async (round) => {
    const shards = await storage.engine.shards();
    const start = BigInt(round) * WEEK;
    const shard = shards.find((one) => one.start <= start && one.end > start);
    await storage.engine.dropShard(shard?.id ?? 0);
  },
];

test('series that come and go in many rounds leave no memory and no file behind, whatever removes them', async () => {
  await open();
  // One that stays, so that the database is never dropped whole.
  await write(storage.engine, `kept f=1 ${100n * WEEK}`);
  const memory: number[] = [];
  const files: number[] = [];

  for (let round = 0; round < 8; round++) {
    await write(storage.engine, lines(round, { week: round }));
    expect(await scanRows(storage.engine, 'm', FIELDS)).toHaveLength(SERIES);
    await REMOVALS[round % REMOVALS.length]?.(round);
    await storage.engine.compact();

    const { databases } = await storage.engine.statistics();
    expect(databases).toMatchObject([{ seriesCount: 1, measurementCount: 1 }]);
    expect(await seriesKeys()).toEqual(['kept']);
    if (round % 3 === 2) await storage.reopen(round === 5 ? 'crash' : 'close');
    memory.push(await indexBytes());
    files.push(indexFileBytes());
  }

  // A page of 64 KiB per kind of thing is the least that an index takes; with all series it would
  // be a megabyte.
  expect(Math.max(...memory)).toBeLessThan(510_000);
  expect(Math.max(...files)).toBeLessThan(20_000);
});

test('below the share that pays nothing is copied', async () => {
  await open();
  await write(storage.engine, lines(0));
  await write(storage.engine, lines(1));
  await write(storage.engine, lines(2));
  await deleteRound(0);
  await storage.engine.compact();
  expect(await rebuilds()).toBe(1);

  await storage.engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 'dc', operator: '=', value: 'dc1' },
  });
  await storage.engine.compact();

  expect(await rebuilds()).toBe(1);
  const keys = await seriesKeys();
  expect(keys.length).toBeGreaterThan(SERIES);
  expect(keys.filter((key) => key.includes('dc=dc1,'))).toEqual([]);
});

test('a snapshot from before goes on reading what it saw, the new index answers as the old one', async () => {
  await open();
  await write(storage.engine, lines(0));
  await write(storage.engine, lines(1));
  await storage.engine.flush();
  await write(storage.engine, lines(1, { week: 1 }));
  const where = { kind: 'tag', key: 'id', operator: '=', value: 'x0-5' } as const;
  const snapshot = storage.engine.source.snapshot();
  const old = snapshot.scan(
    {
      source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
      timeRange: { start: 0n, end: 90n * WEEK },
      descending: false,
      groupBy: 'all',
      fields: [{ name: 'f', type: 'float' }],
    },
    { signal: new AbortController().signal },
  );
  const iterator = eachBatch(old);
  const seen = new Set([(await iterator.next()).value?.seriesKey]);
  await deleteRound(0);
  const before = {
    rows: await scanRows(storage.engine, 'm', FIELDS),
    one: await scanRows(storage.engine, 'm', FIELDS, { where: { ...where, value: 'x1-5' } }),
    keys: await seriesKeys(),
  };

  await storage.engine.compact();
  await write(storage.engine, 'm,round=r2,id=new,dc=dc1 f=1 5\nm,round=r1,id=x1-5,dc=dc5 f=7 5');

  expect(await rebuilds()).toBe(1);
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
    seen.add(step.value.seriesKey);
  }
  expect(seen.size).toBe(2 * SERIES);
  expect([...seen].filter((key) => key?.includes('round=r0'))).toHaveLength(SERIES);
  snapshot.close();
  const added = ['m,dc=dc1,id=new,round=r2', 5n, 1];
  const again = ['m,dc=dc5,id=x1-5,round=r1', 5n, 7];
  const texts = (rows: readonly unknown[]): string[] => rows.map(String).sort();
  const rows = await scanRows(storage.engine, 'm', FIELDS);
  expect(texts(rows)).toEqual(texts([...before.rows, added, again]));
  const one = await scanRows(storage.engine, 'm', FIELDS, { where: { ...where, value: 'x1-5' } });
  expect(one).toEqual([before.one[0], again, before.one[1]]);
  expect(await scanRows(storage.engine, 'm', FIELDS, { where })).toEqual([]);
  expect((await seriesKeys()).sort()).toEqual([...before.keys, String(added[0])].sort());
});

test('a rebuilt index has the writes and deletes made meanwhile, after a crash too', async () => {
  await open();
  await write(storage.engine, 'kept f=1 1');
  for (let round = 0; round < 3; round++) await write(storage.engine, lines(round));
  await storage.engine.dropMeasurement('db', 'm');

  const rebuild = storage.engine.compact();
  const writes = [2, 3, 4].map((round) =>
    write(storage.engine, lines(round, { measurement: 'n' })),
  );
  await writes[0];
  await storage.engine.delete({
    database: 'db',
    measurements: ['n'],
    where: { kind: 'tag', key: 'round', operator: '=', value: 'r2' },
  });
  await Promise.all([rebuild, ...writes]);
  const keys = await seriesKeys();

  expect(await rebuilds()).toBeGreaterThan(0);
  expect(keys).toHaveLength(2 * SERIES + 1);
  expect(await scanRows(storage.engine, 'n', FIELDS)).toHaveLength(2 * SERIES);
  for (const how of ['crash', 'close'] as const) {
    await storage.reopen(how);
    expect(await seriesKeys()).toEqual(keys);
    expect(await scanRows(storage.engine, 'n', FIELDS)).toHaveLength(2 * SERIES);
  }
  await write(storage.engine, lines(4, { measurement: 'n' }));
  expect(await seriesKeys()).toEqual(keys);
});

test('a rebuilt index is backed up, restored, verified and inspected', async () => {
  await open();
  const count = CHECKPOINT_SERIES;
  for (let round = 0; round < 2; round++) await write(storage.engine, lines(round, { count }));
  await deleteRound(0);
  await storage.engine.compact();
  expect(await rebuilds()).toBe(1);
  const path = join(storage.directory, 'full.backup');
  await storeBackup(path, storage.engine.backup({}));
  await storage.engine.restore(
    { databases: new Map([['db', 'copy']]), policies: new Map([[POLICY.id, 9]]) },
    joinBackups([path]),
  );
  const rows = await scanRows(storage.engine, 'm', FIELDS);

  const copied = await scanRows(storage.engine, 'm', FIELDS, {
    source: { database: 'copy', retentionPolicy: 'autogen', measurement: 'm' },
  });
  await storage.engine.close();
  const disk = nodeDisk();
  const report = await verifyDirectory({ directory: storage.directory, disk });
  const shards = await inspectDirectory({ directory: storage.directory, disk });
  await storage.reopen();

  expect(rows).toHaveLength(count);
  expect(copied).toEqual(rows);
  expect(report.damage).toEqual([]);
  const names = shards.flatMap((s) => s.segments.flatMap((g) => g.measurements));
  expect(names.map(({ name, series }) => [name, series])).toEqual([
    ['m', count],
    ['m', count],
  ]);
  expect(await scanRows(storage.engine, 'm', FIELDS)).toEqual(rows);
});

test('an index of a damaged shard is left alone: what is hidden looks deleted', async () => {
  await open();
  await write(storage.engine, lines(0));
  await storage.engine.flush();
  await write(storage.engine, 'm,round=r1,id=one,dc=dc1 f=1 1');
  await storage.engine.close();
  const files = readdirSync(storage.directory, { recursive: true, encoding: 'utf8' });
  const segment = join(storage.directory, files.find((name) => name.endsWith('.seg')) ?? '');
  const disk = nodeDisk();
  disk.rename(segment, `${segment}.away`);
  await storage.reopen();

  await storage.engine.compact();

  expect(await rebuilds()).toBe(0);
  await storage.engine.close();
  disk.rename(`${segment}.away`, segment);
  await storage.reopen();
  expect(await seriesKeys()).toHaveLength(SERIES + 1);
});

test('limits count what is there, not what was deleted', async () => {
  await open();
  const limited = { maxSeriesPerDatabase: 4, maxValuesPerTag: 3 };
  const some = (names: string): string =>
    [...names].map((name) => `m,host=${name} f=1 1`).join('\n');
  await write(storage.engine, some('abc'), limited);
  const refused = await write(storage.engine, some('d'), limited);
  await storage.engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 'host', operator: '!=', value: 'a' },
  });

  // Values of a request are known when it is done.
  const taken = await write(storage.engine, some('d'), limited);
  const more = await write(storage.engine, some('e'), limited);
  const values = await write(storage.engine, some('f'), limited);
  await write(storage.engine, 'n f=1 1', limited);
  const series = await write(storage.engine, 'o f=1 1', limited);

  expect(refused.dropped?.reason).toContain('max-values-per-tag');
  expect([taken.dropped, more.dropped]).toEqual([undefined, undefined]);
  expect(values.dropped?.reason).toContain('max-values-per-tag');
  expect(series.dropped?.reason).toContain('max-series-per-database');
});
