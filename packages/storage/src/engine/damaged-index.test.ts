// A series index with missing entries: its database is stopped with an error message, others are
// served, and `repair` rebuilds the index from the keys that shards keep beside their segments.
import { Corruption } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import { beforeEach, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from './open-inline.ts';
import { POLICY, scanRows, write } from '../testing/fixtures.ts';
import type { Row } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { repairDirectory } from '../tools/repair.ts';
import { verifyDirectory } from '../tools/verify.ts';

const FIELDS = [['f', 'float']] as const;
const OTHER = { id: 2, database: 'other' };
const directory = '/data';

let disk: SimulatedDisk;
let path: string;

function open(servesDamaged = false): Promise<StorageEngine> {
  return openStorageInline({ directory, hasBackgroundWork: false, servesDamaged }, { disk });
}

/** Two records in the index of `db`, one in that of `other`, and rows in the log. */
beforeEach(async () => {
  disk = new SimulatedDisk();
  const engine = await open();
  await write(engine, 'm,t=a f=1 1\nn,t=a f=1 1\n');
  await write(engine, 'm,t=z f=1 1\n', OTHER);
  await engine.flush();
  await write(engine, 'm,t=b f=2 1\nm,t=c f=3 1\n');
  await engine.flush();
  await write(engine, 'm,t=d f=4 1\nm,t=a f=5 2\n');
  await engine.close();
  path = `${directory}/index/00000001.series`;
});

const ROWS = [
  ['m,t=a', 1n, 1],
  ['m,t=a', 2n, 5],
  ['m,t=b', 1n, 2],
  ['m,t=c', 1n, 3],
  ['m,t=d', 1n, 4],
];

const length = (): number => disk.bytes(path).length;
const cut = (bytes: number): void => disk.replace(path, disk.bytes(path).slice(0, bytes));
const DAMAGES = [
  ['a flipped bit in its first record', () => (disk.bytes(path)[40]! ^= 1)],
  ['a flipped bit in its last record', () => (disk.bytes(path)[length() - 2]! ^= 1)],
  ['a flipped bit in its header', () => (disk.bytes(path)[2]! ^= 1)],
  ['lost its last byte', () => cut(length() - 1)],
  ['lost its last record', () => cut(length() - 32)],
  ['nothing but its header', () => cut(16)],
  ['nothing in it', () => cut(0)],
  ['been deleted', () => disk.remove(path)],
  [
    'the bytes of another one',
    () => disk.replace(path, disk.bytes(`${directory}/index/00000002.series`)),
  ],
] as const;

function rowsOf(engine: StorageEngine, database = 'db'): Promise<Row[]> {
  const source = { database, retentionPolicy: 'autogen', measurement: 'm' };
  return scanRows(engine, 'm', FIELDS, { source });
}

test.each(DAMAGES)('one that has %s stops its database until it is repaired', async (_, spoil) => {
  spoil();
  const before = disk.copy();

  const engine = await open();
  await expect(rowsOf(engine)).rejects.toThrow(/series index .*tidemark tsdb repair.*\.series/);
  await expect(write(engine, 'm,t=e f=1 1\n')).rejects.toThrow(/tidemark tsdb repair/);
  await expect(engine.dropMeasurement('db', 'n')).rejects.toThrow(Corruption);
  expect(await rowsOf(engine, 'other')).toEqual([['m,t=z', 1n, 1]]);
  await write(engine, 'm,t=y f=1 1\n', OTHER);
  await engine.flush();
  await engine.compact();
  await engine.close();
  expect(disk.exists(path)).toBe(before.exists(path));
  if (disk.exists(path)) expect(disk.bytes(path)).toEqual(before.bytes(path));

  const found = await verifyDirectory({ directory, disk });
  const repaired = await repairDirectory({ directory, disk });
  const sound = await verifyDirectory({ directory, disk });
  const again = await open();

  expect(found.damage).toContainEqual(expect.objectContaining({ file: path }));
  expect(repaired).toMatchObject({ indexesRewritten: 1, lost: [] });
  expect(sound.damage).toEqual([]);
  expect(await again.damage()).toEqual([]);
  expect(await rowsOf(again)).toEqual(ROWS);
  // New series get ids of their own.
  await write(again, 'm,t=e f=6 1\n');
  await again.flush();
  expect(await rowsOf(again)).toEqual([...ROWS, ['m,t=e', 1n, 6]]);
});

test('readers that accept it get the remaining rows, with a warning', async () => {
  cut(length() - 1);
  const engine = await open(true);
  const snapshot = engine.source.snapshot();
  const { signal } = new AbortController();
  const told: string[] = [];
  const onPartial = (reason: string): void => void told.push(reason);
  const request = { kind: 'series', filter: { database: 'db', measurements: ['m'] } } as const;

  const keys: string[] = [];
  const batches = snapshot.schema(request, { signal, onPartial });
  for await (const batch of eachBatch(batches)) {
    if (batch.kind === 'series') keys.push(...batch.keys);
  }

  expect(keys).toContain('m,t=a');
  expect(told).toEqual([expect.stringMatching(/not complete: the series index has/)]);
});

test('the database can be dropped, and made again', async () => {
  disk.remove(path);
  const engine = await open();

  await engine.dropPolicy(POLICY.id);

  expect(await engine.damage()).toEqual([]);
  await write(engine, 'm,t=new f=1 1\n', { id: 3 });
  expect(await rowsOf(engine)).toEqual([['m,t=new', 1n, 1]]);
});

test('the rest of an interrupted append is put aside, not lost', async () => {
  const bytes = disk.bytes(path);
  disk.replace(path, Buffer.concat([bytes, new TextEncoder().encode('torn')]));

  const engine = await open();
  await write(engine, 'm,t=e f=6 1\n');
  await engine.flush();
  await engine.close();

  const kept = disk.paths().filter((name) => name.includes('/damaged/'));
  expect(kept).toHaveLength(1);
  expect(disk.bytes(kept[0]!)).toHaveLength(bytes.length + 4);
  expect(await rowsOf(await open())).toHaveLength(ROWS.length + 1);
});

test('keys that are nowhere any more are listed, their rows stay', async () => {
  cut(16);
  for (const name of disk.paths()) if (name.endsWith('/SERIES')) disk.remove(name);

  const repaired = await repairDirectory({ directory, disk });

  expect(repaired.lost).toMatchObject([{ file: path, message: /keys of 4 series are lost/ }]);
  const engine = await open();
  expect(await engine.damage()).toEqual([]);
  expect((await verifyDirectory({ directory, disk })).damage).toEqual([]);
});
