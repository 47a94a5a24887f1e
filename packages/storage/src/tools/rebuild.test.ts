// The manifest is missing, or both of its copies are damaged: `repair` builds a new one from the
// files of the shards.
import { beforeEach, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from '../engine/open-inline.ts';
import { POLICY, scanRows, write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { repairDirectory } from './repair.ts';
import { verifyDirectory } from './verify.ts';

const DIRECTORY = '/data';
const FIELDS = [['f', 'float']] as const;
const utf8 = new TextEncoder();

let disk: SimulatedDisk;

function open(): Promise<StorageEngine> {
  return openStorageInline({ directory: DIRECTORY, hasBackgroundWork: false }, { disk });
}

const spoilings = [
  ['damaged in both copies', () => disk.bytes(`${DIRECTORY}/MANIFEST`).fill(7)],
  ['missing', () => disk.remove(`${DIRECTORY}/MANIFEST`)],
] as const;

beforeEach(() => {
  disk = new SimulatedDisk();
});

/**
 * Three segments that overwrite each other, two of them merged, a delete that is not compacted,
 * another database, and a log.
 */
async function fill(): Promise<void> {
  const engine = await open();
  await write(engine, 'm,t=a f=1 1\nm,t=b f=1 1\nm,t=c f=1 1\n');
  await engine.flush();
  await write(engine, 'm,t=a f=2 1\n');
  await engine.flush();
  await engine.compact();
  await write(engine, 'm,t=a f=3 1\nm,t=d f=3 1\n');
  await engine.delete({
    database: 'db',
    measurements: undefined,
    where: undefined,
    timeRange: { start: 5n, end: 9n },
  });
  await engine.flush();
  await engine.writeLines({
    policy: { ...POLICY, id: 2, database: 'other', retentionPolicy: 'long' },
    body: utf8.encode('n f=9 1\n'),
    precision: 'ns',
    now: 1n,
  });
  await engine.flush();
  await write(engine, 'm,t=b f=4 1\n');
  await engine.close();
}

const ROWS = [
  ['m,t=a', 1n, 3],
  ['m,t=b', 1n, 4],
  ['m,t=c', 1n, 1],
  ['m,t=d', 1n, 3],
];

test.each(spoilings)(
  'a manifest that is %s is made anew; later writes count as before',
  async (_, spoil) => {
    await fill();
    const before = disk.paths().filter((path) => path.endsWith('.seg'));
    spoil();

    await expect(open()).rejects.toThrow(/tidemark tsdb repair/);
    expect(disk.paths().filter((path) => path.endsWith('.seg'))).toEqual(before);
    const found = await verifyDirectory({ directory: DIRECTORY, disk });
    const repaired = await repairDirectory({ directory: DIRECTORY, disk });

    expect(found.damage).toMatchObject([{ file: `${DIRECTORY}/MANIFEST` }]);
    expect(found.damage[0]?.message).toMatch(/repair makes a new one/);
    expect(found.rows).toBeGreaterThan(0);
    expect(repaired).toMatchObject({ isManifestRebuilt: true, segmentsLost: 0 });
    expect(repaired.lost).toMatchObject([{ file: `${DIRECTORY}/MANIFEST` }]);
    expect((await verifyDirectory({ directory: DIRECTORY, disk })).damage).toEqual([]);
    const engine = await open();
    expect(await scanRows(engine, 'm', FIELDS)).toEqual(ROWS);
    expect((await engine.shards()).map((shard) => [shard.database, shard.retentionPolicy])).toEqual(
      [
        ['db', POLICY.retentionPolicy],
        ['other', 'long'],
      ],
    );
    await write(engine, 'm,t=a f=5 1\n');
    await engine.flush();
    await engine.compact();
    expect((await scanRows(engine, 'm', FIELDS))[0]).toEqual(['m,t=a', 1n, 5]);
    await engine.close();
  },
);

test('a shard that says nothing of itself is listed and kept aside, the others come back', async () => {
  await fill();
  disk.remove(`${DIRECTORY}/MANIFEST`);
  disk.remove(`${DIRECTORY}/shards/2/SHARD`);

  const repaired = await repairDirectory({ directory: DIRECTORY, disk });

  expect(repaired.lost).toMatchObject([
    { file: `${DIRECTORY}/MANIFEST` },
    { file: `${DIRECTORY}/shards/2`, message: 'the database of the shard is unknown' },
  ]);
  expect(disk.paths().some((path) => /damaged\/2-.*\.seg$/.test(path))).toBe(true);
  const engine = await open();
  expect(await scanRows(engine, 'm', FIELDS)).toEqual(ROWS);
  expect(await engine.shards()).toHaveLength(1);
  await engine.close();
});

test('a segment that the file of its shard does not name yet is the newest; an older one was merged already', async () => {
  const engine = await open();
  await write(engine, 'm,t=a f=1 1\n');
  await engine.flush();
  const [first] = disk.paths().filter((path) => path.endsWith('.seg'));
  const old = disk.bytes(first!).slice();
  await write(engine, 'm,t=a f=2 1\n');
  await engine.flush();
  await engine.compact();
  const file = `${DIRECTORY}/shards/1/SHARD`;
  const before = disk.bytes(file).slice();
  await write(engine, 'm,t=a f=3 1\n');
  await engine.flush();
  await engine.close();
  await put(file, before);
  await put(first!, old);
  disk.remove(`${DIRECTORY}/MANIFEST`);

  await repairDirectory({ directory: DIRECTORY, disk });

  const again = await open();
  expect(await scanRows(again, 'm', FIELDS)).toEqual([['m,t=a', 1n, 3]]);
  expect(disk.exists(first!)).toBe(false);
  await again.close();
});

async function put(path: string, bytes: Uint8Array): Promise<void> {
  disk.remove(path);
  disk.makeDirectory(path.slice(0, path.lastIndexOf('/')));
  const file = disk.open(path, 'create');
  file.write(bytes, 0);
  await file.sync();
  file.close();
}

test('a crash before the first manifest leaves a directory that opens: all of it is in the log', async () => {
  const engine = await open();
  await write(engine, 'm,t=a f=1 1\n');
  const crashed = disk.copy();
  await engine.flush();
  // The segment of the first flush is there, the manifest is not.
  const segment = disk.paths().find((path) => path.endsWith('.seg'))!;
  const bytes = disk.bytes(segment).slice();
  await engine.close();
  disk = crashed;
  await put(segment, bytes);

  const again = await open();

  expect(await scanRows(again, 'm', FIELDS)).toEqual([['m,t=a', 1n, 1]]);
  await again.close();
});

test('a manifest of a later version is not replaced', async () => {
  await fill();
  const bytes = disk.bytes(`${DIRECTORY}/MANIFEST`);
  const { encodeChecked } = await import('../disk/checked-file.ts');
  const newer = encodeChecked(utf8.encode('{}'), { magic: 'TDMMAN', version: 99 });
  await put(`${DIRECTORY}/MANIFEST`, newer);

  await expect(repairDirectory({ directory: DIRECTORY, disk })).rejects.toThrow(/format 99/);
  expect(disk.bytes(`${DIRECTORY}/MANIFEST`)).toEqual(newer);
  expect(bytes.length).toBeGreaterThan(0);
});
