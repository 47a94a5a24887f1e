import { randomBytes } from 'node:crypto';

import { Conflict, Corruption, InvalidRequest, Unavailable } from '@tidemark/core';
import { beforeEach, describe, expect, test } from 'vitest';
import type { BackupRequest, RestoreRequest, StorageEngine } from '@tidemark/storage-api';

import { scanFrames } from '../disk/frames.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import { seriesFilePath } from '../shard/series-file.ts';
import { scanRows, write } from '../testing/fixtures.ts';
import { randomNumbers, SimulatedDisk } from '../testing/simulated-disk.ts';
import { verifyDirectory } from '../tools/verify.ts';
import { openArriving, withAttachments } from './arriving.ts';
import { describeBackup, joinBackups, storeBackup } from './chain.ts';
import { BACKUP_HEADER_BYTES, FRAME_HEAD_BYTES } from './format.ts';
import { fileBytes } from './read-frames.ts';

const FIELDS = [
  ['f', 'float'],
  ['s', 'string'],
] as const;

let disk: SimulatedDisk;
let engine: StorageEngine;

beforeEach(async () => {
  disk = new SimulatedDisk();
  engine = await open('/data');
  await write(engine, 'm,t=a f=1,s="x" 1\nm,t=b f=2 2\n');
  await engine.flush();
  await write(engine, 'm,t=a f=3 3\n');
});

function open(directory: string): Promise<StorageEngine> {
  return openStorageInline({ directory, hasBackgroundWork: false }, { disk });
}

const ROWS = [
  ['m,t=a', 1n, 1, 'x'],
  ['m,t=a', 3n, 3, null],
  ['m,t=b', 2n, 2, null],
];

const AS_IT_IS: RestoreRequest = {
  databases: new Map([['db', 'db']]),
  policies: new Map([[1, 1]]),
};

function store(path: string, request: BackupRequest = {}) {
  return storeBackup(path, engine.backup(request), { disk });
}

async function* portions(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function sinceOf(path: string): Promise<BackupRequest> {
  const { manifest, segments } = await describeBackup(path, disk);
  return { since: { storageId: manifest.storageId, segments } };
}

/** Restores into a new directory and returns its engine. */
async function restored(
  files: readonly string[],
  request = AS_IT_IS,
  directory = '/copy',
): Promise<StorageEngine> {
  const copy = await open(directory);
  await copy.restore(request, joinBackups(files, { disk }));
  return copy;
}

const rowsOf = (storage: StorageEngine, database = 'db') =>
  scanRows(storage, 'm', FIELDS, {
    source: { database, retentionPolicy: 'autogen', measurement: 'm' },
  });

test('a backup of a running engine is restored elsewhere with everything acknowledged', async () => {
  const progress: number[] = [];
  const summary = await storeBackup('/full', engine.backup({ metadata: 'policies' }), {
    disk,
    onProgress: ({ doneBytes, totalBytes }) => progress.push(doneBytes / totalBytes),
  });
  await write(engine, 'm,t=later f=9 9\n');
  const copy = await restored(['/full']);

  expect(summary).toEqual({
    databases: ['db'],
    segments: 2,
    segmentsOfEarlierBackups: 0,
    sizeBytes: disk.bytes('/full').length,
  });
  expect(progress.at(-1)).toBe(1);
  expect((await describeBackup('/full', disk)).metadata).toBe('policies');
  expect(await rowsOf(copy)).toEqual(ROWS);
  await write(copy, 'm,t=c f=4 4\n');
  await copy.close();
  const again = await open('/copy');
  expect(await rowsOf(again)).toEqual([...ROWS, ['m,t=c', 4n, 4, null]]);
});

test('keys of series that are long are stored in portions, in backups and in files', async () => {
  const tags = Array.from({ length: 120 }, () => randomBytes(30_000).toString('hex'));
  await write(engine, tags.map((tag) => `m,t=${tag} f=1 1\n`).join(''));
  let largest = 0;
  for await (const frame of engine.backup({})) largest = Math.max(largest, frame.length);
  await engine.close();
  const [index] = disk.list('/data/index').filter((name) => name.endsWith('.series'));
  const [shard] = disk.list('/data/shards');
  const paths = [`/data/index/${index}`, seriesFilePath('/data', Number(shard))];
  const records = paths.map((path) => {
    const { payloads } = scanFrames(disk.open(path, 'read'));
    return Math.max(...payloads.map(({ length }) => length));
  });

  // Hexadecimal digits are compressed to little more than half.
  expect(largest).toBeGreaterThan(1 << 20);
  expect(largest).toBeLessThan(3 << 20);
  for (const record of records) {
    expect(record).toBeGreaterThan(1 << 20);
    expect(record).toBeLessThan(5 << 20);
  }
});

test('a restore takes the name of a database that has no shards', async () => {
  await store('/full');
  const databases = new Map([['db', 'r']]);
  await engine.restore({ databases, policies: new Map() }, joinBackups(['/full'], { disk }));
  await write(engine, 'm,t=c f=4 4\n');
  await store('/later');

  await engine.restore(
    { databases, policies: new Map([[1, 7]]) },
    joinBackups(['/later'], { disk }),
  );

  expect(await rowsOf(engine, 'r')).toEqual([...ROWS, ['m,t=c', 4n, 4, null]]);
  await engine.close();
  expect(await verifyDirectory({ directory: '/data', disk })).toMatchObject({ damage: [] });
});

test('a series that was deleted and written again while it was backed up has one entry', async () => {
  const portions: Uint8Array[] = [];
  for await (const portion of engine.backup({})) {
    portions.push(portion);
    // The header; the snapshot is there.
    if (portions.length > 1) continue;
    await engine.delete({ database: 'db', measurements: ['m'] });
    await write(engine, 'm,t=a f=5 5\nm,t=b f=5 5\n');
  }
  const copy = await open('/copy');
  await copy.restore(
    AS_IT_IS,
    (async function* () {
      yield* portions;
    })(),
  );

  await write(copy, 'm,t=a f=7 1\n');

  expect(await rowsOf(copy)).toEqual([['m,t=a', 1n, 7, 'x'], ...ROWS.slice(1)]);
});

/**
 * An engine whose restore failed because a sync of the journal of its manifest failed, after the
 * change had reached the disk. It could not be taken back there, and the next manifest cannot be
 * written either, if `isLeft`.
 */
async function unsettled({ isLeft }: { readonly isLeft: boolean }): Promise<StorageEngine> {
  await store('/full');
  const copy = await open('/copy');
  const failing = disk;
  let syncs = 0;
  disk.gate = async (kind, path) => {
    if (kind !== 'sync' || !/^\/copy\/MANIFEST\.\d+$/.test(path)) return;
    syncs++;
    // The first one is of a new journal, the second of the change, the third takes it back.
    failing.keepsFailed = syncs === 2;
    if (syncs === 2 || syncs === 3 || (syncs === 4 && isLeft)) failing.failSyncs = 1;
  };
  await expect(copy.restore(AS_IT_IS, joinBackups(['/full'], { disk }))).rejects.toThrow('EIO');
  return copy;
}

test('a restore that fails with its commit is taken back at once', async () => {
  await unsettled({ isLeft: false });

  expect(disk.paths().filter((path) => /copy\/(shards|index)/.test(path))).toEqual([]);
  disk = disk.afterKill();
  const again = await open('/copy');
  expect(await again.damage()).toEqual([]);
  expect(await again.shards()).toEqual([]);
});

test('files of a restore that failed stay as long as the manifest on disk may name them', async () => {
  const copy = await unsettled({ isLeft: true });
  await expect(write(copy, 'm f=1 1\n')).rejects.toThrow(Unavailable);

  disk = disk.afterCrash(randomNumbers(1));
  const again = await open('/copy');

  expect(await again.damage()).toEqual([]);
  expect(await rowsOf(again)).toEqual(ROWS);
});

test('a restore that failed gives its name back with the next manifest', async () => {
  const copy = await unsettled({ isLeft: true });

  await copy.flush();

  expect(disk.paths().filter((path) => /copy\/(shards|index)/.test(path))).toEqual([]);
  await copy.restore(AS_IT_IS, joinBackups(['/full'], { disk }));
  expect(await rowsOf(copy)).toEqual(ROWS);
});

test('records of a database that was dropped are not applied to the one restored under its name', async () => {
  await store('/full');
  await write(engine, 'm,t=z f=8 8\n', { id: 5, database: 'r' });
  await engine.dropPolicy(5);
  const request = { databases: new Map([['db', 'r']]), policies: new Map([[1, 7]]) };
  await engine.restore(request, joinBackups(['/full'], { disk }));

  disk = disk.afterKill();
  engine = await open('/data');

  expect(await rowsOf(engine, 'r')).toEqual(ROWS);
});

test('a restore into an engine with data of its own leaves that alone and is there after a start', async () => {
  await store('/full');
  await engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'a' },
  });

  const request = { databases: new Map([['db', 'old']]), policies: new Map([[1, 7]]) };
  const report = await engine.restore(request, joinBackups(['/full'], { disk }));
  await write(engine, 'm,t=d f=5 5\n', { id: 7, database: 'old' });
  const before = await rowsOf(engine, 'old');
  await engine.close();
  const again = await open('/data');
  await again.compact();

  expect(report).toMatchObject({ databases: ['old'], shards: 1, segments: 2 });
  expect(before).toEqual([...ROWS, ['m,t=d', 5n, 5, null]]);
  expect(await rowsOf(again, 'old')).toEqual(before);
  expect(await rowsOf(again)).toEqual([['m,t=b', 2n, 2, null]]);
  expect(await again.shards()).toMatchObject([
    { database: 'db', policyId: 1 },
    { database: 'old', policyId: 7 },
  ]);
});

test('deletes before the backup stay deleted, and what was dropped and written again has its new type', async () => {
  await engine.flush();
  await engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'a' },
    timeRange: { start: 3n, end: 3n },
  });
  await write(engine, 'n f="old" 1\n');
  await engine.flush();
  await engine.dropMeasurement('db', 'n');
  await write(engine, 'n f=1 1\n');
  await store('/full');

  const copy = await restored(['/full']);

  expect(await rowsOf(copy)).toEqual([ROWS[0], ROWS[2]]);
  expect(await scanRows(copy, 'n', [['f', 'float']])).toEqual([['n', 1n, 1]]);
  expect((await write(copy, 'n f="text" 2\n')).dropped?.count).toBe(1);
});

describe('incremental backups', () => {
  test('hold only new segments and need their predecessors', async () => {
    await store('/full');
    await write(engine, 'm,t=c f=4 4\n');
    const second = await store('/second', await sinceOf('/full'));
    await write(engine, 'm,t=d f=5 5\n');
    await engine.flush();
    await engine.compact();
    await write(engine, 'm,t=e f=6 6\n');
    const third = await store('/third', await sinceOf('/second'));

    expect(second).toMatchObject({ segments: 1, segmentsOfEarlierBackups: 2 });
    expect(third).toMatchObject({ segments: 2, segmentsOfEarlierBackups: 0 });
    const copy = await restored(['/full', '/second']);
    expect(await rowsOf(copy)).toEqual([...ROWS, ['m,t=c', 4n, 4, null]]);
    const later = await restored(['/full', '/second', '/third'], AS_IT_IS, '/later');
    expect((await rowsOf(later)).map(([key]) => key)).toEqual(
      ['a', 'a', 'b', 'c', 'd', 'e'].map((t) => `m,t=${t}`),
    );
    await expect(restored(['/second'], AS_IT_IS, '/half')).rejects.toThrow(Corruption);
  });

  test('are refused after a backup of another directory', async () => {
    await store('/full');
    const other = await open('/other');
    await write(other, 'm f=1 1\n');

    await expect(other.backup(await sinceOf('/full')).next()).rejects.toThrow(InvalidRequest);
    await storeBackup('/foreign', other.backup({}), { disk });
    await expect(restored(['/full', '/foreign'])).rejects.toThrow('another database');
  });
});

test('one database, or the shards of a time range, are backed up and restored alone', async () => {
  const week = 604_800_000_000_000n;
  await write(engine, `m,t=a f=8 ${3n * week}\n`);
  await write(engine, 'm f=1 1\n', { id: 2, database: 'other' });

  await store('/other', { databases: ['other'] });
  await store('/early', { databases: ['db'], timeRange: { start: 0n, end: week } });
  await store('/all');
  const other = await restored(['/other'], {
    databases: new Map([['other', 'other']]),
    policies: new Map([[2, 2]]),
  });
  const early = await restored(['/early'], AS_IT_IS, '/copy-early');
  const chosen = await restored(['/all'], AS_IT_IS, '/copy-all');

  expect(await rowsOf(other, 'other')).toEqual([['m', 1n, 1, null]]);
  expect(await rowsOf(early)).toEqual(ROWS);
  expect(await rowsOf(chosen)).toHaveLength(4);
  expect((await chosen.shards()).map((shard) => shard.database)).toEqual(['db', 'db']);
});

test('a restore over data is refused and changes nothing', async () => {
  await store('/full');
  const before = disk.paths();

  await expect(engine.restore(AS_IT_IS, joinBackups(['/full'], { disk }))).rejects.toThrow(
    Conflict,
  );

  expect(await rowsOf(engine)).toEqual(ROWS);
  expect(disk.paths()).toEqual(before);
});

test('while a database is being restored, writes to it are refused and others go on', async () => {
  await store('/full');
  const request = { databases: new Map([['db', 'new']]), policies: new Map([[1, 7]]) };
  const results: unknown[] = [];
  const bytes = async function* () {
    let count = 0;
    for await (const portion of joinBackups(['/full'], { disk })) {
      yield portion;
      // The name is known with the second portion, the contents.
      if (count++ < 2) continue;
      results.push(
        await write(engine, 'm f=1 1\n', { id: 7, database: 'new' }).catch((e: unknown) => e),
      );
      await write(engine, 'm,t=b f=2 2\n');
    }
  };

  await engine.restore(request, bytes());

  expect(results.length).toBeGreaterThan(3);
  for (const result of results) expect(result).toBeInstanceOf(Unavailable);
  expect(await rowsOf(engine, 'new')).toEqual(ROWS);
});

test('a restore that ends early leaves nothing behind, and can be repeated', async () => {
  await store('/full');
  const copy = await open('/copy');
  const cutOff = async function* () {
    let count = 0;
    for await (const portion of joinBackups(['/full'], { disk })) {
      if (count++ === 5) throw new Error('the connection broke');
      yield portion;
    }
  };

  await expect(copy.restore(AS_IT_IS, cutOff())).rejects.toThrow('the connection broke');
  expect(disk.paths().filter((path) => /copy\/(shards|index)/.test(path))).toEqual([]);
  expect(await copy.shards()).toEqual([]);
  await copy.restore(AS_IT_IS, joinBackups(['/full'], { disk }));

  expect(await rowsOf(copy)).toEqual(ROWS);
});

test('a damaged or cut backup is noticed wherever the damage is, and restores nothing', async () => {
  await store('/full');
  const { length } = disk.bytes('/full');
  for (let at = 0; at < length; at += 7) {
    const flipped = disk.copy();
    flipped.bytes('/full')[at]! ^= 4;
    const cut = disk.copy();
    cut.replace('/full', disk.bytes('/full').slice(0, at));
    for (const one of [flipped, cut]) {
      const copy = await openStorageInline(
        { directory: '/copy', hasBackgroundWork: false },
        { disk: one },
      );
      await expect(
        copy.restore(AS_IT_IS, joinBackups(['/full'], { disk: one })),
        `byte ${at}`,
      ).rejects.toThrow(Corruption);
      expect(await copy.shards()).toEqual([]);
    }
  }
});

test('contents that come twice are damage', async () => {
  await store('/full');
  const bytes = Buffer.from(disk.bytes('/full'));
  const begin = BACKUP_HEADER_BYTES;
  const end = begin + FRAME_HEAD_BYTES + bytes.readUInt32LE(begin + 4);
  const twice = Buffer.concat([bytes.subarray(0, end), bytes.subarray(begin)]);
  const copy = await open('/copy');

  await expect(copy.restore(AS_IT_IS, portions(twice))).rejects.toThrow(Corruption);
});

test('a stored backup appears whole or not at all', async () => {
  const half = async function* () {
    let count = 0;
    for await (const portion of engine.backup({})) if (count++ < 4) yield portion;
  };

  await expect(storeBackup('/full', half(), { disk })).rejects.toThrow('cut off');
  expect(disk.paths().filter((path) => path.startsWith('/full'))).toEqual([]);
  await store('/full');
  await expect(store('/full')).rejects.toThrow(Conflict);
});

test('damage in a segment stops a backup and is named', async () => {
  await engine.flush();
  const path = disk.paths().find((name) => name.endsWith('.seg'))!;
  disk.bytes(path)[20]! ^= 1;

  await expect(store('/full')).rejects.toThrow(path);
});

test('the contents of a backup that arrives are known before the rest has come', async () => {
  await store('/full');
  const arriving = await openArriving(joinBackups(['/full'], { disk }), 'upload');
  const copy = await open('/copy');

  await copy.restore(AS_IT_IS, arriving.bytes());

  expect(arriving.contents.manifest.databases.map(({ name }) => name)).toEqual(['db']);
  expect(await rowsOf(copy)).toEqual(ROWS);
});

describe('a chain that arrives, the newest first', () => {
  async function* oneBehindTheOther(paths: readonly string[]) {
    for (const path of paths) yield* fileBytes(disk, path);
  }

  beforeEach(async () => {
    await store('/full');
    await write(engine, 'm,t=c f=4 4\n');
    await store('/second', await sinceOf('/full'));
    await write(engine, 'm,t=d f=5 5\n');
    await store('/third', await sinceOf('/second'));
  });

  test('is joined', async () => {
    const paths = ['/third', '/second', '/full'];
    const arriving = await openArriving(oneBehindTheOther(paths), 'upload');
    const copy = await open('/copy');

    await copy.restore(AS_IT_IS, arriving.bytes());

    expect((await rowsOf(copy)).map(([key]) => key)).toEqual(
      ['a', 'a', 'b', 'c', 'd'].map((t) => `m,t=${t}`),
    );
  });

  test.each([[['/third', '/full']], [['/full', '/third']], [['/second']]])(
    'is refused in another order or with a gap: %j',
    async (paths) => {
      const copy = await open('/copy');
      const restore = async (): Promise<unknown> => {
        const arriving = await openArriving(oneBehindTheOther(paths), 'upload');
        const report = await copy.restore(AS_IT_IS, arriving.bytes());
        return report.segments;
      };
      // A full one in front has all that it needs; what is behind it is read and not used.
      if (paths[0] === '/full') expect(await restore()).toBe(2);
      else await expect(restore()).rejects.toThrow('chain is incomplete');
    },
  );
});

test('attachments of a service are restored from a backup, from the newest one of a chain', async () => {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
  const add = (path: string, request: BackupRequest, texts: readonly string[]) =>
    storeBackup(
      path,
      withAttachments(
        engine.backup(request),
        texts.map((one) => Buffer.from(one)),
      ),
      {
        disk,
      },
    );
  await add('/full', {}, ['old', 'gone']);
  await write(engine, 'm,t=c f=4 4\n');
  await add('/next', await sinceOf('/full'), ['x'.repeat(100_000), '']);

  const files = ['/full', '/next'];
  const arriving = await openArriving(joinBackups(files, { disk }), 'upload');
  const found: string[] = [];
  for await (const bytes of arriving.attachments()) found.push(text(bytes));
  const copy = await open('/copy');
  await copy.restore(AS_IT_IS, arriving.bytes());
  const one = await openArriving(joinBackups(files, { disk, databases: ['db'] }), 'upload');

  expect(found).toEqual(['x'.repeat(100_000), '']);
  expect(await rowsOf(copy)).toHaveLength(4);
  for await (const bytes of one.attachments()) expect.fail(text(bytes));
});

test('files that a reading backup needs are kept until it ends, also when it is given up', async () => {
  await engine.flush();
  const backup = engine.backup({});
  await backup.next();
  await engine.compact();
  const during = (await engine.statistics()).counters['filesWaitingForSnapshots'];

  await backup.return(undefined);

  const after = (await engine.statistics()).counters['filesWaitingForSnapshots'];
  expect([during, after]).toEqual([1, 0]);
});
