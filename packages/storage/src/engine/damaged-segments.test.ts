// A segment that cannot be read: requests that need it fail with an error message, or are marked as
// partial; the rest is served.
import { Corruption } from '@tidemark/core';
import { Driver, eachBatch } from '@tidemark/query';
import { beforeEach, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from './open-inline.ts';
import {
  aggregateRows,
  EVERYTHING,
  POLICY,
  scanRows,
  schemaBatches,
  write,
} from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';

const FIELDS = [['f', 'float']] as const;
const COUNT = [{ field: 'f', type: 'float', functions: ['count'] }] as const;
const SHARD_NANOS = POLICY.shardDurationNanos;
const MORE = new TextEncoder().encode('more');
const signal = new AbortController().signal;

let disk: SimulatedDisk;
let path: string;

function open(servesDamaged = false): Promise<StorageEngine> {
  const options = { directory: '/data', hasBackgroundWork: false, servesDamaged };
  return openStorageInline(options, { disk });
}

/**
 * Two shards of a policy with a segment each; only the first one's is damaged. `gone` is a series
 * of that one alone.
 */
beforeEach(async () => {
  disk = new SimulatedDisk();
  const engine = await open();
  await write(engine, `m,t=gone f=1 1\nm,t=a f=1 1\nm,t=a f=2 ${SHARD_NANOS}\n`);
  await engine.flush();
  await engine.close();
  path = disk.paths().find((name) => name.includes('shards/1/') && name.endsWith('.seg'))!;
});

const DAMAGES = [
  ['a flipped bit of the header', () => (disk.bytes(path)[3]! ^= 1)],
  ['a flipped bit of the footer', () => (disk.bytes(path)[disk.bytes(path).length - 40]! ^= 1)],
  ['a flipped bit of the trailer', () => (disk.bytes(path)[disk.bytes(path).length - 3]! ^= 1)],
  ['an end that is cut off', () => disk.replace(path, disk.bytes(path).slice(0, -5))],
  ['nothing in it', () => disk.replace(path, new Uint8Array(0))],
  ['bytes behind its end', () => disk.replace(path, Buffer.concat([disk.bytes(path), MORE]))],
  ['been deleted', () => disk.remove(path)],
] as const;

test.each(DAMAGES)(
  'of a segment that has %s every read fails and says what to do',
  async (_, spoil) => {
    spoil();

    const engine = await open();

    const advice = /tidemark tsdb repair.*storage\.serve-damaged = true.*file=`.*\.seg`/;
    await expect(scanRows(engine, 'm', FIELDS)).rejects.toThrow(advice);
    await expect(aggregateRows(engine, 'm', COUNT)).rejects.toThrow(Corruption);
    const snapshot = engine.source.snapshot();
    const filter = { database: 'db' };
    for (const request of [
      { kind: 'measurements', filter } as const,
      { kind: 'cardinality', of: 'series', filter } as const,
    ]) {
      await expect(schemaBatches(engine, request)).rejects.toThrow(Corruption);
    }
    const source = { database: 'db', retentionPolicy: 'autogen', measurement: 'm' };
    const asked = { source, timeRange: EVERYTHING, fields: ['f'] };
    const driver = new Driver({ supervision: () => undefined, monotonicMs: () => 0 });
    await expect(driver.result(snapshot.cost!(asked, { signal }))).rejects.toThrow(Corruption);
    expect(await engine.damage()).toMatchObject([{ file: path }]);
    expect((await engine.statistics()).counters['damagedFiles']).toBe(1);
    // The other shard does not need it.
    const timeRange = { start: SHARD_NANOS, end: EVERYTHING.end };
    expect(await scanRows(engine, 'm', FIELDS, { timeRange })).toEqual([['m,t=a', SHARD_NANOS, 2]]);
  },
);

test('readers that accept it get an answer without the segment, with a warning', async () => {
  disk.remove(path);
  const engine = await open(true);
  const told: string[] = [];
  const snapshot = engine.source.snapshot();
  const onPartial = (reason: string): void => void told.push(reason);

  const request = { kind: 'series', filter: { database: 'db' } } as const;
  const answer: unknown[] = [];
  const batches = snapshot.schema(request, { signal, onPartial });
  for await (const batch of eachBatch(batches)) answer.push(batch);

  expect(answer).toEqual([{ kind: 'series', measurement: 'm', keys: ['m,t=a'] }]);
  expect(told).toEqual([`the answer is not complete: segment is missing (${path})`]);
  // A reader that cannot be warned gets no rows.
  await expect(scanRows(engine, 'm', FIELDS)).rejects.toThrow(Corruption);
});

test('deletes of a damaged shard are refused, its drop is not', async () => {
  disk.remove(path);
  const engine = await open(true);
  const everything = { database: 'db', timeRange: EVERYTHING };

  await expect(engine.delete(everything)).rejects.toThrow(/tidemark tsdb repair/);
  await expect(engine.dropMeasurement('db', 'm')).rejects.toThrow(Corruption);
  await engine.delete({ ...everything, timeRange: { start: SHARD_NANOS, end: SHARD_NANOS } });
  await engine.dropShard(1);

  expect(await engine.damage()).toEqual([]);
  expect(await scanRows(engine, 'm', FIELDS)).toEqual([]);
});

test('a series that is hidden and written again is the same one when the segment is back', async () => {
  const bytes = disk.bytes(path);
  disk.remove(path);
  const damaged = await open();
  await write(damaged, 'm,t=gone f=3 2\n');
  await damaged.flush();
  await damaged.close();
  disk.replace(path, bytes);

  const engine = await open();

  const rows = await scanRows(engine, 'm', FIELDS, { groupBy: 'all' });
  expect(rows.filter(([key]) => key === 'm,t=gone')).toEqual([
    ['m,t=gone', 1n, 1],
    ['m,t=gone', 2n, 3],
  ]);
  const [count] = await aggregateRows(engine, 'm', COUNT, { groupBy: ['t'] });
  expect((await engine.statistics()).databases).toMatchObject([{ seriesCount: 2 }]);
  expect(count?.values).toEqual([[2n]]);
});

test('a delete that was logged before the damage covers the segment when it is back', async () => {
  const before = await open();
  await before.delete({ database: 'db', where: tag('gone'), timeRange: EVERYTHING });
  await before.close();
  const bytes = disk.bytes(path);
  disk.remove(path);
  const damaged = await open();
  await write(damaged, 'm,t=a f=3 2\n');
  await damaged.flush();
  await damaged.close();
  disk.replace(path, bytes);

  const engine = await open();

  expect((await scanRows(engine, 'm', FIELDS)).map(([key, time]) => [key, time])).toEqual([
    ['m,t=a', 1n],
    ['m,t=a', 2n],
    ['m,t=a', SHARD_NANOS],
  ]);
});

function tag(value: string) {
  return { kind: 'tag', key: 't', operator: '=', value } as const;
}
