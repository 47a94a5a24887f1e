// Events while a delete is prepared, and while the series that it empties are looked for:
// both are done in steps, between which everything else goes on.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Damage, DeleteRequest } from '@tidemark/storage-api';

import { Deletion } from '../memtable/deletion.ts';
import { Memtables } from '../memtable/memtables.ts';
import { runStarts } from '../memtable/row-runs.ts';
import { RowBlock } from '../columns/row-block.ts';
import { IndexCache } from '../series/index-cache.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { dropEmptySeries, STEP_SERIES } from '../state/live-series.ts';
import { ShardStore } from '../state/shard-store.ts';
import type { Shard } from '../shard/shard.ts';
import { groupInSteps } from '../shard/tombstone.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import { finish, STEP_ELEMENTS } from '../schedule/steps.ts';
import type { Contents } from '../state/contents.ts';
import { Database } from '../state/database.ts';
import { Databases } from '../state/databases.ts';
import { Ids } from '../state/ids.ts';
import { StoppedDatabases } from '../state/stopped-databases.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import { scanRows, schemaBatches, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import type { DeletedRows } from '../wal/wal-record.ts';
import { applyDelete, applyDrop, releaseDeleted, releaseDropped } from './apply.ts';
import { DeleteSelection } from './delete-selection.ts';

const ALL = { start: -(2n ** 63n), end: 2n ** 63n - 1n };

const tagIs = (value: string): DeleteRequest['where'] => ({
  kind: 'tag',
  key: 't',
  operator: '=',
  value,
});

let storage: TestEngine;
/** An action at a step of a delete. */
let meanwhile: ReadonlyMap<string, () => Promise<unknown>>;

beforeEach(async () => {
  meanwhile = new Map();
  const fault = async (point: string): Promise<void> => void (await meanwhile.get(point)?.());
  storage = await testEngine({}, { fault });
});

afterEach(() => storage.dispose());

async function rows(): Promise<string[]> {
  const all = await scanRows(storage.engine, 'm', [['v', 'float']]);
  return all.map(([series, time, value]) => `${series} ${time} ${value}`);
}

async function seriesKeys(): Promise<string[]> {
  const batches = await schemaBatches(storage.engine, {
    kind: 'series',
    filter: { database: 'db' },
  });
  return batches.flatMap((batch) => (batch.kind === 'series' ? batch.keys : [])).sort();
}

test('rows that come while a delete is prepared are deleted, those of new series too', async () => {
  await write(storage.engine, 'm,t=a v=1 1\nm,t=b v=1 1');
  meanwhile = new Map([
    [
      'delete:selected',
      async () => {
        await write(storage.engine, 'm,t=a,u=new v=2 2');
        await write(storage.engine, 'm,t=a v=3 3\nm,t=b v=3 3');
      },
    ],
  ]);

  await storage.engine.delete({ database: 'db', measurements: ['m'], where: tagIs('a') });

  expect(await rows()).toEqual(['m,t=b 1 1', 'm,t=b 3 3']);
  expect(await seriesKeys()).toEqual(['m,t=b']);
  await storage.reopen('crash');
  expect(await rows()).toEqual(['m,t=b 1 1', 'm,t=b 3 3']);
});

test.each(['memory', 'a segment'])(
  'a series that is written again before it is found empty stays, with its row in %s',
  async (place) => {
    await write(storage.engine, 'm,t=a v=1 1\nm,t=b v=1 1');
    await storage.engine.flush();
    meanwhile = new Map([
      [
        'delete:logged',
        async () => {
          await write(storage.engine, 'm,t=a v=2 2');
          if (place === 'a segment') await storage.engine.flush();
        },
      ],
    ]);

    await storage.engine.delete({ database: 'db', measurements: ['m'] });

    expect(await rows()).toEqual(['m,t=a 2 2']);
    expect(await seriesKeys()).toEqual(['m,t=a']);
    await storage.reopen('crash');
    expect(await rows()).toEqual(['m,t=a 2 2']);
    expect(await seriesKeys()).toEqual(['m,t=a']);
  },
);

test('a policy that is dropped before its empty series are found leaves the others as they are', async () => {
  const long = { id: 2, retentionPolicy: 'long' };
  await write(storage.engine, 'm,t=a v=1 1');
  await write(storage.engine, 'm,t=a v=2 2', long);
  await storage.engine.flush();
  meanwhile = new Map([['delete:logged', () => storage.engine.dropPolicy(2)]]);

  await storage.engine.delete({
    database: 'db',
    retentionPolicy: 'long',
    measurements: ['m'],
  });

  expect(await rows()).toEqual(['m,t=a 1 1']);
  expect(await seriesKeys()).toEqual(['m,t=a']);
});

test('a second delete waits until the first has taken effect', async () => {
  await write(storage.engine, 'm,t=a v=1 1\nm,t=b v=1 1');
  const order: string[] = [];
  let second: Promise<void> | undefined;
  meanwhile = new Map([
    [
      'delete:selected',
      async () => {
        order.push('selected');
        second ??= storage.engine
          .delete({ database: 'db', measurements: ['m'], where: tagIs('b') })
          .then(() => void order.push('second done'));
      },
    ],
    ['delete:logged', async () => void order.push('logged')],
  ]);

  await storage.engine.delete({ database: 'db', measurements: ['m'], where: tagIs('a') });
  await second;

  expect(order.slice(0, 3)).toEqual(['selected', 'logged', 'selected']);
  expect(await rows()).toEqual([]);
});

const database = (): Database =>
  new Database(
    { name: 'db', instance: 1, indexFile: 1 },
    { cache: new IndexCache(1 << 20), schemaVersions: new SchemaVersions() },
  );

function contentsOf(): Contents {
  const schemaVersions = new SchemaVersions();
  const ids = new Ids();
  return {
    ids,
    shards: new ShardStore(schemaVersions),
    databases: new Databases(ids, { cache: new IndexCache(1 << 20), schemaVersions }),
    stopped: new StoppedDatabases(),
    memtables: new Memtables(1 << 20),
  };
}

const DESCRIPTOR = {
  id: 1,
  policyId: 1,
  database: 'db',
  retentionPolicy: 'autogen',
  start: 0n,
  end: 1n,
};

/** A shard with tombstones, and a segment that cannot be opened. */
function addUnreadable({ shards }: Contents, tombstones: readonly Tombstone[]): Shard {
  const unreadable = [{ info: {} as SegmentInfo, damage: {} as Damage }];
  const descriptor = { ...DESCRIPTOR, id: 2, policyId: 2 };
  return shards.adopt(shards.make(descriptor, { segments: [], tombstones, unreadable }));
}

/** A shard that holds so many series of a measurement, without rows. */
function shardOf(of: Database, count: number): { shards: ShardStore; shard: Shard } {
  const shards = new ShardStore(new SchemaVersions());
  const shard = shards.add(DESCRIPTOR);
  const measurement = of.index.addMeasurement('m');
  for (let i = 0; i < count; i++) {
    const id = of.index.addSeries(measurement, [['t', String(i)]]);
    shards.addSeries(shard, id, of.index);
  }
  return { shards, shard };
}

test('few series are looked at between two pauses, and few are deleted', () => {
  const one = database();
  const { shards, shard } = shardOf(one, 10 * STEP_SERIES + 1);
  const before = shard.series;
  let looked = 0;
  const steps = dropEmptySeries(shard, [{ measurementId: 0, series: undefined }], {
    shards,
    index: () => one.index,
    isInMemory: () => {
      looked++;
      return false;
    },
  });
  const lookedAtOnce: number[] = [];
  while (steps.next().done !== true) lookedAtOnce.push(looked - sum(lookedAtOnce));
  one.collectEmpty();
  let deleted = 0;
  let deletedAtOnce = 0;
  for (const _ of one.deleteEmpty()) {
    deletedAtOnce = Math.max(deletedAtOnce, one.index.deletedCount - deleted);
    deleted = one.index.deletedCount;
  }

  expect(sum(lookedAtOnce)).toBe(10 * STEP_SERIES + 1);
  expect(Math.max(...lookedAtOnce)).toBeLessThanOrEqual(STEP_SERIES);
  expect(deleted).toBe(10 * STEP_SERIES + 1);
  expect(deletedAtOnce).toBeLessThanOrEqual(1024);
  expect([shard.series.size, one.index.liveSeries]).toEqual([0, 0]);
  // A snapshot from before goes on reading the set that it has.
  expect(before.size).toBe(10 * STEP_SERIES + 1);
});

test('series of very many measurements are looked at a few at once, too', () => {
  const one = database();
  const shards = new ShardStore(new SchemaVersions());
  const shard = shards.add(DESCRIPTOR);
  const rows = Array.from({ length: 4 * STEP_SERIES }, (_, i) => {
    const measurement = one.index.addMeasurement(`m${i}`);
    const id = one.index.addSeries(measurement, []);
    shards.addSeries(shard, id, one.index);
    return { measurementId: measurement.id, series: undefined };
  });
  const sets = new Set([shard.series]);
  let looked = 0;
  const steps = dropEmptySeries(shard, rows, {
    shards,
    index: () => one.index,
    isInMemory: () => {
      looked++;
      return false;
    },
  });
  const lookedAt: number[] = [];
  while (steps.next().done !== true) {
    lookedAt.push(looked - sum(lookedAt));
    sets.add(shard.series);
  }

  expect(lookedAt.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => STEP_SERIES));
  // A copy for each step, not for each measurement.
  expect(sets.size).toBe(1 + 4);
  expect([shard.series.size, one.index.liveSeries]).toEqual([0, 0]);
});

test('a delete looks only at tombstones of its measurements, at few before each pause', () => {
  const count = 10_000;
  const contents = contentsOf();
  const one = contents.databases.add({ name: 'db', instance: 1 });
  let looked = 0;
  const tombstones = Array.from({ length: count }, (_, measurementId) => ({
    sequence: 1,
    measurementId,
    get series() {
      looked++;
      return Uint32Array.of(measurementId);
    },
    timeRange: ALL,
    freesTypes: false,
  }));
  const shard = addUnreadable(contents, tombstones);
  const rows = Array.from({ length: count }, (_, i) => ({
    measurementId: i,
    series: Uint32Array.of(i),
  }));
  const record = {
    kind: 'delete',
    database: one.ref,
    shardIds: [2],
    timeRange: ALL,
    rows,
    freesTypes: false,
  } as const;

  const pauses = [...groupInSteps(shard.tombstones)].length;
  applyDelete(contents, record, new Deletion(ALL, rows));

  expect(shard.tombstones).toHaveLength(2 * count);
  expect(looked).toBeLessThanOrEqual(3 * count);
  expect(pauses).toBe(Math.floor(count / STEP_ELEMENTS));
});

test('a delete that a start reads in parts has one tombstone for each measurement', () => {
  const contents = contentsOf();
  const one = contents.databases.add({ name: 'db', instance: 1 });
  const shard = addUnreadable(contents, []);
  const rows = [[5, 7], [2], [8, 6]].map((ids) => ({
    measurementId: 0,
    series: Uint32Array.from(ids),
  }));
  const record = {
    kind: 'delete',
    database: one.ref,
    shardIds: [2],
    timeRange: ALL,
    rows,
    freesTypes: false,
  } as const;

  applyDelete(contents, record, new Deletion(ALL, rows));

  expect(shard.tombstones.map(({ series }) => series)).toEqual([Uint32Array.of(2, 5, 6, 7, 8)]);
});

test('series of a shard that goes during a pause are left to its drop', () => {
  const one = database();
  const { shards, shard } = shardOf(one, 3 * STEP_SERIES);
  let isThere = true;
  const steps = dropEmptySeries(shard, [{ measurementId: 0, series: undefined }], {
    shards,
    index: () => (isThere ? one.index : undefined),
    isInMemory: () => false,
  });

  steps.next();
  isThere = false;

  expect(steps.next().done).toBe(true);
  expect(one.index.liveSeries).toBe(2 * STEP_SERIES);
});

test('series of a shard that is dropped while a delete looks at them stay where others hold them', () => {
  const contents = contentsOf();
  const one = contents.databases.add({ name: 'db', instance: 1 });
  const held = shardOf(one, 3 * STEP_SERIES).shard.series;
  for (const id of [2, 3]) {
    const shard = contents.shards.add({ ...DESCRIPTOR, id, policyId: id });
    for (const member of held) contents.shards.addSeries(shard, member, one.index);
  }
  one.index.removedFromShard(Uint32Array.from(held));
  const steps = releaseDeleted(contents, {
    kind: 'delete',
    database: one.ref,
    shardIds: [2],
    timeRange: ALL,
    rows: [{ measurementId: 0, series: undefined }],
    freesTypes: false,
  });

  steps.next();
  finish(releaseDropped(applyDrop(contents, { kind: 'drop', shardIds: [2] })));
  finish(steps);

  expect(one.index.liveSeries).toBe(3 * STEP_SERIES);
  expect(one.index.deletedCount).toBe(0);
});

test('empty series wait for the writes that were parsed before', () => {
  const one = database();
  const { shards, shard } = shardOf(one, 10);
  const endWrite = one.beginWrite([]);
  for (const _ of dropEmptySeries(shard, [{ measurementId: 0, series: undefined }], {
    shards,
    index: () => one.index,
    isInMemory: () => false,
  }));
  one.collectEmpty();

  const duringWrite = [...one.deleteEmpty()].length;
  const deletedBefore = one.index.deletedCount;
  endWrite();
  const afterWrite = [...one.deleteEmpty()].length;

  expect([duringWrite, deletedBefore, afterWrite]).toEqual([0, 0, 1]);
  expect(one.index.deletedCount).toBe(10);
});

test('a selection has what came in its pauses, each series once', () => {
  const one = database();
  const [m, n] = ['m', 'n'].map((name) => one.index.addMeasurement(name));
  for (let i = 0; i < 5000; i++) {
    for (const measurement of [m!, n!]) {
      const id = one.index.addSeries(measurement, [
        ['t', i % 2 === 0 ? 'a' : 'b'],
        ['i', String(i)],
      ]);
      one.index.addedToShard(id);
    }
  }
  const parts: DeletedRows[] = [];
  const selection = new DeleteSelection(
    one,
    { database: 'db', measurements: ['m', 'late'], where: tagIs('a') },
    (part) => parts.push(part),
  );
  let pauses = 0;
  for (const _ of selection.select()) {
    one.index.addSeries(m!, [
      ['t', pauses % 2 === 0 ? 'a' : 'b'],
      ['late', String(pauses)],
    ]);
    one.index.addSeries(n!, [
      ['t', 'a'],
      ['late', String(pauses++)],
    ]);
  }
  one.index.addSeries(one.index.addMeasurement('late'), [['t', 'a']]);
  selection.extend();

  const ids = parts.flatMap(({ series }) => [...(series ?? [])]);
  const keys = ids.map((id) => one.index.seriesKey(id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(2500 + Math.ceil(pauses / 2) + 1);
  expect(keys.filter((key) => !/^(m|late),.*t=a/.test(key))).toEqual([]);
  expect(pauses).toBeGreaterThan(0);
});

test('most of a delete in memory is done ahead of it, with what comes meanwhile', () => {
  const memtables = new Memtables(1 << 30);
  const index = { ordinalOf: (series: number) => series };
  const append = (first: number, count: number): void => {
    const series = Uint32Array.from({ length: count }, (_, i) => (first + i) % 100);
    const times = BigInt64Array.from(series, (_, i) => BigInt(first + i));
    const bounds = { min: times[0]!, max: times.at(-1)! };
    const block = RowBlock.adopt(1, series, times, bounds);
    block.setColumn('v', {
      type: 'float',
      values: Float64Array.from(times, Number),
      valid: undefined,
    });
    memtables.append(1, block, { index, starts: runStarts(block.series, count), nowMs: 0 });
  };
  for (let first = 0; first < 100_000; first += 20_000) append(first, 20_000);
  const deletion = new Deletion(ALL, [{ measurementId: 1, series: Uint32Array.of(7) }]);
  let pauses = 0;
  let next = 100_000;
  for (const _ of memtables.prepareDelete(1, deletion)) {
    if (pauses++ < 20) append(next, 100);
    next += 100;
  }
  const [before] = memtables.tablesOf(1);
  const rowsBefore = before!.get(1)!.rows;

  memtables.delete(1, deletion);

  const after = memtables.tablesOf(1)[0]!.get(1)!;
  expect(pauses).toBeGreaterThan(10);
  expect(after.rows).toBe(rowsBefore - rowsBefore / 100);
  expect(memtables.hasSeries(1, 1, 7)).toBe(false);
  const times = after.blocks.flatMap(({ times: all, rows: count }) => [...all.subarray(0, count)]);
  expect(new Set(times).size).toBe(after.rows);
  expect(times).toEqual(times.toSorted((a, b) => Number(a - b)));
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

test('a drop leaves the files of another, whose shards its manifest still names', async () => {
  const [first = 0, second = 0] = await twoShards();
  const files = (): readonly string[] => {
    const folder = join(storage.directory, 'shards', String(second));
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  let other: Promise<boolean> | undefined;
  const steps: string[][] = [];
  meanwhile = new Map([
    [
      'manifest:after',
      async () => {
        if (other !== undefined) return;
        const logged = new Promise<void>((resolve) => {
          meanwhile = new Map([
            ['drop:logged', async () => resolve()],
            [
              'manifest:before',
              async () => {
                // The first drop goes on meanwhile.
                for (let i = 0; i < 10; i++) await new Promise(setImmediate);
                steps.push([...files()]);
              },
            ],
          ]);
        });
        other = storage.engine.dropShard(second);
        await logged;
      },
    ],
  ]);

  await storage.engine.dropShard(first);
  await other;

  expect(steps).toEqual([expect.arrayContaining([expect.stringMatching(/\.seg$/)])]);
  expect(await storage.engine.shards()).toEqual([]);
});

/** Ids of two shards with a segment each. */
async function twoShards(): Promise<number[]> {
  const week = 7n * 86_400_000_000_000n;
  await write(storage.engine, `m v=1 1\nm v=2 ${4n * week}`);
  await storage.engine.flush();
  return (await storage.engine.shards()).map(({ id }) => id);
}
