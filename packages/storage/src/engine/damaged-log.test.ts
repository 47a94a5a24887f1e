// A log that lacks acknowledged records: the databases that lost records are stopped, others are
// served, and `repair` keeps the rest. Records that a crash tears off the end were not
// acknowledged.
import { Corruption } from '@tidemark/core';
import { beforeEach, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from './open-inline.ts';
import { scanRows, write } from '../testing/fixtures.ts';
import type { Row } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { repairDirectory } from '../tools/repair.ts';
import { verifyDirectory } from '../tools/verify.ts';

const FIELDS = [['f', 'float']] as const;
const OTHER = { id: 2, database: 'other' };
const directory = '/data';

let disk: SimulatedDisk;

function open(log: (text: string) => void = () => undefined): Promise<StorageEngine> {
  const options = { directory, hasBackgroundWork: false };
  return openStorageInline({ ...options, log: (_level, text) => log(text) }, { disk });
}

function rowsOf(engine: StorageEngine, database: string): Promise<Row[]> {
  const source = { database, retentionPolicy: 'autogen', measurement: 'm' };
  return scanRows(engine, 'm', FIELDS, { source });
}

const wal = (id: number): string => `${directory}/wal/0000000${id}.wal`;
const FILES = `${directory}/wal/FILES`;

/**
 * Three files: the first two of starts that ended, with records of `db`, then of both, then of
 * `other`.
 */
async function fill(end: 'close' | 'crash'): Promise<void> {
  disk = new SimulatedDisk();
  let engine = await open();
  await write(engine, 'm f=1 1\n');
  await write(engine, 'm f=2 2\n');
  await engine.close();
  engine = await open();
  await write(engine, 'm f=3 3\n');
  await write(engine, 'm f=4 4\n', OTHER);
  await write(engine, 'm f=5 5\n');
  await engine.close();
  engine = await open();
  await write(engine, 'm f=6 6\n', OTHER);
  await write(engine, 'm f=7 7\n', OTHER);
  if (end === 'close') await engine.close();
}

beforeEach(() => fill('close'));

const flip = (path: string, at: number): void =>
  void (disk.bytes(path).at(at), (disk.bytes(path)[at]! ^= 1));
const cut = (path: string, by: number): void =>
  disk.replace(path, disk.bytes(path).slice(0, disk.bytes(path).length - by));
const empty = (path: string): void => disk.replace(path, new Uint8Array(0));

/** Length of the mark behind the last record, which says that it was synced. */
const MARK = 15;

type Case = readonly [what: string, spoil: () => void, stopped: readonly string[], file: string];
const CASES: readonly Case[] = [
  ['a record of one database is damaged', () => flip(wal(2), 60), ['db'], wal(2)],
  [
    'the last record of a file that is not the last is damaged',
    () => flip(wal(1), disk.bytes(wal(1)).length - MARK - 2),
    ['db'],
    wal(1),
  ],
  ['a file is cut that is not the last', () => cut(wal(2), MARK + 1), ['db', 'other'], wal(2)],
  ['a file that is not the last is empty', () => empty(wal(1)), ['db'], wal(1)],
  ['a file is missing that is not the last', () => disk.remove(wal(1)), ['db'], wal(1)],
  ['the last file is missing', () => disk.remove(wal(3)), ['other'], wal(3)],
  ['the last file is empty', () => empty(wal(3)), ['other'], wal(3)],
  ['the last file is cut after a clean stop', () => cut(wal(3), MARK + 1), ['other'], wal(3)],
  [
    'the last record is damaged after a clean stop',
    () => flip(wal(3), disk.bytes(wal(3)).length - MARK - 2),
    ['other'],
    wal(3),
  ],
  ['the list of files is missing', () => disk.remove(FILES), ['db', 'other'], FILES],
  [
    'the list of files is damaged in both copies',
    () => disk.bytes(FILES).fill(7),
    ['db', 'other'],
    FILES,
  ],
];

test.each(CASES)(
  'when %s, whose records are lost is stopped until it is repaired',
  async (_, spoil, stopped, file) => {
    spoil();
    const found = await verifyDirectory({ directory, disk });

    // Flushes and starts do not make it forgotten, and keep what is damaged.
    for (let start = 0; start < 3; start++) {
      const engine = await open();
      for (const database of ['db', 'other']) {
        const policy = database === 'db' ? {} : OTHER;
        if (!stopped.includes(database)) {
          expect((await rowsOf(engine, database)).length).toBeGreaterThan(0);
          await write(engine, `m f=8 ${start + 10}\n`, policy);
          continue;
        }
        await expect(rowsOf(engine, database)).rejects.toThrow(/log .*tidemark tsdb repair/);
        await expect(write(engine, 'm f=8 8\n', policy)).rejects.toThrow(/tidemark tsdb repair/);
        await expect(engine.dropMeasurement(database, 'm')).rejects.toThrow(Corruption);
      }
      expect(await engine.damage()).toContainEqual(expect.objectContaining({ file }));
      if (start > 0) await engine.flush();
      await engine.close();
    }
    const repaired = await repairDirectory({ directory, disk });
    const sound = await verifyDirectory({ directory, disk });
    const engine = await open();

    expect(found.damage).toContainEqual(expect.objectContaining({ file }));
    expect(repaired.lost).toContainEqual(expect.objectContaining({ file }));
    expect(sound.damage).toEqual([]);
    expect(await engine.damage()).toEqual([]);
    await write(engine, 'm f=9 9\n');
    await write(engine, 'm f=9 9\n', OTHER);
    expect(await rowsOf(engine, 'db')).toContainEqual(['m', 9n, 9]);
    expect(await rowsOf(engine, 'other')).toContainEqual(['m', 9n, 9]);
  },
);

test('repair before a flush keeps the other records of the log', async () => {
  flip(wal(2), 60);

  const repaired = await repairDirectory({ directory, disk });
  const engine = await open();

  expect(repaired).toMatchObject({ logsRewritten: 1, lost: [{ file: wal(2) }] });
  const times = (await rowsOf(engine, 'db')).map(([, time]) => time);
  expect(times).toHaveLength(3);
  expect(times).toEqual(expect.arrayContaining([1n, 2n]));
  expect(await rowsOf(engine, 'other')).toHaveLength(3);
});

test('a crash only tears off unacknowledged records of the last file', async () => {
  await fill('crash');
  const logged: string[] = [];
  cut(wal(3), MARK + 1);

  let engine = await open((text) => logged.push(text));

  expect(logged).toEqual(['the log ends in a write that was not acknowledged']);
  expect(await rowsOf(engine, 'db')).toHaveLength(4);
  expect((await rowsOf(engine, 'other')).map(([, time]) => time)).toEqual([4n, 6n]);
  const torn = disk.bytes(wal(3)).slice();
  await write(engine, 'm f=8 8\n');
  await engine.close();
  // It stays as it is; the next start knows where it ends.
  logged.length = 0;
  engine = await open((text) => logged.push(text));
  expect(disk.bytes(wal(3))).toEqual(torn);
  expect(await engine.damage()).toEqual([]);
  expect(await rowsOf(engine, 'db')).toHaveLength(5);
});

test('a damaged last record after a crash is damage, because it was acknowledged', async () => {
  await fill('crash');
  flip(wal(3), disk.bytes(wal(3)).length - MARK - 2);

  const found = await verifyDirectory({ directory, disk });
  const engine = await open();
  await expect(rowsOf(engine, 'other')).rejects.toThrow(/log .*tidemark tsdb repair/);
  expect(await rowsOf(engine, 'db')).toHaveLength(4);
  await engine.close();
  const repaired = await repairDirectory({ directory, disk });
  const again = await open();

  expect(found.damage).toContainEqual(expect.objectContaining({ file: wal(3) }));
  expect(repaired.lost).toContainEqual(expect.objectContaining({ file: wal(3) }));
  expect((await rowsOf(again, 'other')).map(([, time]) => time)).toEqual([4n, 6n]);
});

test('a damaged mark costs nothing', async () => {
  await fill('crash');
  flip(wal(3), disk.bytes(wal(3)).length - 2);

  const engine = await open();

  expect(await engine.damage()).toEqual([]);
  expect(await rowsOf(engine, 'other')).toHaveLength(3);
});

test('bytes after the end of a log that was closed are not read', async () => {
  const again = disk.bytes(wal(1)).subarray(16);
  disk.replace(wal(3), Buffer.concat([disk.bytes(wal(3)), again]));

  const engine = await open();
  const rows = await rowsOf(engine, 'other');
  await engine.close();

  expect(rows).toHaveLength(3);
  expect((await verifyDirectory({ directory, disk })).tornBytes).toBe(again.length + MARK);
});

test('one damaged copy of the list costs nothing, and is mended', async () => {
  disk.bytes(FILES)[8]! ^= 1;
  const logged: string[] = [];
  const found = await verifyDirectory({ directory, disk });

  const engine = await open((text) => logged.push(text));
  const rows = await rowsOf(engine, 'db');
  await engine.close();

  expect(found.damage).toMatchObject([{ file: FILES }]);
  expect(logged).toEqual(['one copy of the list of log files is damaged']);
  expect(rows).toHaveLength(4);
  expect((await verifyDirectory({ directory, disk })).damage).toEqual([]);
});
