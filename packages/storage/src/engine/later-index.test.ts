// Indexes that are read after the start, when somebody first needs them.
import { Corruption } from '@tidemark/core';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { joinBackups, storeBackup } from '../backup/chain.ts';
import { POLICY, scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { Row, TestEngine } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';

const WEEK = POLICY.shardDurationNanos;
const FIELDS = [['f', 'float']] as const;
const OTHER = { id: 2, database: 'other' };

let disk: SimulatedDisk;
let opened: TestEngine;

/** Two databases; series `a` and `b` in the first shard of `db`, `b` and `c` in its second. */
beforeEach(async () => {
  disk = new SimulatedDisk();
  opened = await testEngine({}, { disk });
  await write(opened.engine, `m,t=a f=1 1\nm,t=b f=2 1\nm,t=b f=3 ${WEEK}\nn,t=c f=4 ${WEEK}\n`);
  await write(opened.engine, 'm,t=z f=5 1\n', OTHER);
  await opened.engine.flush();
  await opened.reopen();
});

afterEach(() => opened.dispose());

async function indexBytes(): Promise<number> {
  return (await opened.engine.statistics()).counters['indexBytes'] ?? 0;
}

function rows(database: string, measurement = 'm'): Promise<Row[]> {
  const source = { database, retentionPolicy: 'autogen', measurement };
  return scanRows(opened.engine, measurement, FIELDS, { source });
}

test('no index is read by a start, by statistics, or for another database', async () => {
  const { databases } = await opened.engine.statistics();

  expect(await indexBytes()).toBe(0);
  expect(databases).toEqual([
    { database: 'db', seriesCount: 3, measurementCount: 2 },
    { database: 'other', seriesCount: 1, measurementCount: 1 },
  ]);
  expect(await rows('other')).toEqual([['m,t=z', 1n, 5]]);
  const ofOne = await indexBytes();
  expect(ofOne).toBeGreaterThan(0);
  expect(await rows('db')).toHaveLength(3);
  expect(await indexBytes()).toBeGreaterThan(ofOne);
  expect((await opened.engine.statistics()).databases).toEqual(databases);
});

test('a flush and a stop leave the index of another database unread', async () => {
  await write(opened.engine, 'm,t=y f=6 2\n', OTHER);
  const before = await indexBytes();

  await opened.engine.flush();

  expect(await indexBytes()).toBe(before);
  await opened.reopen();
  expect(await rows('other')).toEqual([
    ['m,t=y', 2n, 6],
    ['m,t=z', 1n, 5],
  ]);
  expect(await rows('db', 'n')).toEqual([['n,t=c', WEEK, 4]]);
});

test('series of a shard that is dropped before the index is read are gone', async () => {
  const shards = await opened.engine.shards();
  const first = shards.find(({ database, start }) => database === 'db' && start <= 1n);

  await opened.engine.dropShard(first!.id);

  expect(await rows('db')).toEqual([['m,t=b', WEEK, 3]]);
  const [of] = (await opened.engine.statistics()).databases;
  expect(of).toEqual({ database: 'db', seriesCount: 2, measurementCount: 2 });
  await write(opened.engine, 'm,t=a f=7 3\n');
  expect(await rows('db')).toContainEqual(['m,t=a', 3n, 7]);
});

test('a write continues an index that was not read, and a crash keeps both', async () => {
  await write(opened.engine, 'm,t=d f=8 4\nm,t=a f=9 4\n');

  await opened.reopen('crash');

  expect((await rows('db')).toSorted()).toEqual(
    [
      ['m,t=a', 1n, 1],
      ['m,t=a', 4n, 9],
      ['m,t=b', 1n, 2],
      ['m,t=b', WEEK, 3],
      ['m,t=d', 4n, 8],
    ].toSorted(),
  );
});

test('deleted series stay deleted after a start that has tombstones', async () => {
  await opened.engine.delete({
    database: 'db',
    measurements: ['m'],
    where: { kind: 'tag', key: 't', operator: '=', value: 'b' },
  });
  await opened.reopen();

  expect(await rows('db')).toEqual([['m,t=a', 1n, 1]]);
  const [of] = (await opened.engine.statistics()).databases;
  expect(of).toEqual({ database: 'db', seriesCount: 2, measurementCount: 2 });
});

test('requests that need an index at the same time have the same one', async () => {
  const all = await Promise.all([
    rows('db'),
    write(opened.engine, 'm,t=a f=6 2\n'),
    rows('db', 'n'),
    write(opened.engine, 'm,t=new f=7 2\n'),
    opened.engine.dropMeasurement('db', 'n'),
  ]);

  expect(all[1].pointsWritten + all[3].pointsWritten).toBe(2);
  expect(await rows('db')).toHaveLength(5);
  expect(await rows('db', 'n')).toEqual([]);
  await opened.reopen('crash');
  expect(await rows('db')).toHaveLength(5);
});

test('compaction leaves an index unread', async () => {
  await write(opened.engine, 'm,t=a f=6 1\nm,t=b f=7 1\n');
  await opened.engine.flush();
  await opened.reopen();

  await opened.engine.compact();

  expect((await opened.engine.statistics()).counters['compactions']).toBe(1);
  expect(await indexBytes()).toBe(0);
  expect(await rows('db')).toContainEqual(['m,t=a', 1n, 6]);
});

test('a backup reads the indexes of its databases only, and has all their series', async () => {
  await storeBackup('/one', opened.engine.backup({ databases: ['other'] }), { disk });
  const ofOne = await indexBytes();
  expect(await rows('other')).toHaveLength(1);
  expect(await indexBytes()).toBe(ofOne);
  await storeBackup('/all', opened.engine.backup({}), { disk });
  expect(await indexBytes()).toBeGreaterThan(ofOne);

  const copy = await testEngine({}, { disk });
  const request = { databases: new Map([['db', 'db']]), policies: new Map([[1, 1]]) };
  await copy.engine.restore(request, joinBackups(['/all'], { disk }));

  expect(await scanRows(copy.engine, 'm', FIELDS)).toEqual(await rows('db'));
  expect(await scanRows(copy.engine, 'n', FIELDS)).toEqual([['n,t=c', WEEK, 4]]);
  await copy.dispose();
});

test('a disk that fails when an index is read fails that request, not the next one', async () => {
  const reading = vi.spyOn(disk, 'open').mockImplementationOnce(() => {
    throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  });
  onTestFinished(() => reading.mockRestore());

  await expect(rows('db')).rejects.toThrow('EIO');
  expect(await rows('db')).toHaveLength(3);
});

describe('an index that was damaged after the start', () => {
  let bytes: Uint8Array;

  /** Three records in the index of `db`. */
  beforeEach(async () => {
    for (const tag of ['d', 'e']) {
      await write(opened.engine, `m,t=${tag} f=1 1\n`);
      await opened.engine.flush();
    }
    await opened.reopen();
    bytes = disk.bytes(`${opened.directory}/index/00000001.series`);
  });

  test.each([
    ['beginning', 0.1],
    ['first record', 0.3],
    ['second record', 0.6],
    ['last record', 0.95],
  ])('fails requests that need it, of others none: in its %s', async (_name, place) => {
    const offset = Math.floor(bytes.length * place);
    bytes[offset]! ^= 1;

    await expect(rows('db')).rejects.toThrow(Corruption);
    await expect(write(opened.engine, 'm,t=f f=1 1\n')).rejects.toThrow(Corruption);
    await expect(opened.engine.dropMeasurement('db', 'm')).rejects.toThrow(Corruption);
    await expect(opened.engine.dropPolicy(POLICY.id)).rejects.toThrow(Corruption);
    expect(await rows('other')).toEqual([['m,t=z', 1n, 5]]);
    await write(opened.engine, 'm,t=y f=6 2\n', OTHER);
    await opened.engine.flush();
    await opened.engine.compact();

    await opened.reopen();
    const [damage] = await opened.engine.damage();
    expect(damage?.file).toMatch(/00000001\.series$/);
    expect(await rows('other')).toHaveLength(2);
  });

  test('is missing in no backup, which fails and keeps no files', async () => {
    bytes[Math.floor(bytes.length / 2)]! ^= 1;

    await expect(storeBackup('/all', opened.engine.backup({}), { disk })).rejects.toThrow(
      Corruption,
    );

    await opened.engine.compact();
    const { counters } = await opened.engine.statistics();
    expect(counters['compactions']).toBe(1);
    expect(counters['filesWaitingForSnapshots']).toBe(0);
  });
});
