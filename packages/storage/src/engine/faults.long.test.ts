// Faults that the engine survives: power failures at every operation on the disk, failed syncs, a
// full disk, damaged files.
import { Corruption, Unavailable } from '@tidemark/core';
import { describe, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { describeBackup, joinBackups, storeBackup } from '../backup/chain.ts';
import { check, open, run, WEEK, writeStep } from '../testing/crash-plan.ts';
import type { Expectation } from '../testing/crash-plan.ts';
import { POLICY, scanRows, write } from '../testing/fixtures.ts';
import type { Row } from '../testing/fixtures.ts';
import { randomNumbers, SimulatedDisk } from '../testing/simulated-disk.ts';

test('a power cut at any operation loses nothing acknowledged and invents nothing', async () => {
  const whole = new SimulatedDisk();
  await run(whole, new Map());
  expect(whole.operations).toBeGreaterThan(60);

  for (let crashAt = 0; crashAt <= whole.operations; crashAt++) {
    const disk = new SimulatedDisk();
    disk.crashAt = crashAt;
    const expected: Expectation = new Map();
    await run(disk, expected).catch(() => undefined);
    // Seeds that are neighbours begin with nearly the same number.
    const random = randomNumbers(Math.imul(crashAt + 1, 0x9e3779b1));
    await check(disk.afterCrash(random), expected, `crash at ${crashAt}`);
  }
}, 180_000);

test('a power cut at any step of a backup and of a restore leaves all of it or nothing', async () => {
  const rowsOf = (engine: StorageEngine, database: string): Promise<Row[]> =>
    scanRows(engine, 'm', [['f', 'float']], {
      source: { database, retentionPolicy: 'autogen', measurement: 'm' },
    });
  const request = { databases: new Map([['db', 'copy']]), policies: new Map([[1, 7]]) };
  const start = async (disk: SimulatedDisk): Promise<StorageEngine> => {
    const engine = await open(disk);
    await write(engine, `m,t=a f=1 1\nm,t=b f=2 ${WEEK}\n`);
    await engine.flush();
    await write(engine, 'm,t=a f=3 3\n');
    return engine;
  };
  const backUpAndRestore = async (disk: SimulatedDisk, engine: StorageEngine): Promise<void> => {
    await storeBackup('/backup/full', engine.backup({}), { disk });
    await engine.restore(request, joinBackups(['/backup/full'], { disk }));
  };
  const whole = new SimulatedDisk();
  const engine = await start(whole);
  const begin = whole.operations;
  await backUpAndRestore(whole, engine);
  const rows = await rowsOf(engine, 'db');
  expect(await rowsOf(engine, 'copy')).toEqual(rows);
  const outcomes = new Set<string>();

  for (let crashAt = begin; crashAt <= whole.operations; crashAt++) {
    const disk = new SimulatedDisk();
    const crashing = await start(disk);
    disk.crashAt = crashAt;
    await backUpAndRestore(disk, crashing).catch(() => undefined);
    const after = disk.afterCrash(randomNumbers(crashAt));

    const again = await open(after);
    expect(await rowsOf(again, 'db'), `crash at ${crashAt}`).toEqual(rows);
    const copied = await rowsOf(again, 'copy');
    expect([[], rows], `crash at ${crashAt}`).toContainEqual(copied);
    const hasBackup = after.exists('/backup/full');
    if (hasBackup) await describeBackup('/backup/full', after);
    if (copied.length === 0) {
      // Files left by the crash do not prevent the next attempt.
      const from = hasBackup ? '/backup/full' : '/backup/again';
      if (!hasBackup) await storeBackup(from, again.backup({}), { disk: after });
      await again.restore(request, joinBackups([from], { disk: after }));
    }
    expect(await rowsOf(again, 'copy'), `crash at ${crashAt}`).toEqual(rows);
    await again.close();
    const third = await open(after);
    expect(await rowsOf(third, 'copy'), `crash at ${crashAt}`).toEqual(rows);
    outcomes.add(`${hasBackup} ${copied.length > 0}`);
  }
  expect([...outcomes].sort()).toEqual(['false false', 'true false', 'true true']);
}, 180_000);

test('a failed sync is not retried on its file and what is acknowledged later survives', async () => {
  const disk = new SimulatedDisk();
  const engine = await open(disk);
  const expected: Expectation = new Map();
  await writeStep(['a 1'], 1)(engine, expected);

  disk.failSyncs = 1;
  await writeStep(['a 2'], 2)(engine, expected);
  await writeStep(['a 3'], 3)(engine, expected);

  await check(disk.afterCrash(randomNumbers(5)), expected, 'failed sync');
});

test('a sync that fails in the new file too refuses the write, and later writes work', async () => {
  const disk = new SimulatedDisk();
  const engine = await open(disk);
  const expected: Expectation = new Map();
  await writeStep(['a 1'], 1)(engine, expected);

  disk.failSyncs = 2;
  await expect(write(engine, 'm,t=new f=2 2\n')).rejects.toThrow(Unavailable);
  expect(await scanRows(engine, 'm', [['f', 'float']])).toEqual([['m,t=a', 1n, 1]]);
  expected.set('new 2', { allowed: new Set([undefined, 2]) });
  await writeStep(['a 3', 'new 3'], 3)(engine, expected);

  await check(disk.afterCrash(randomNumbers(6)), expected, 'failed syncs');
});

test('a full disk refuses writes with the reason, reads go on, freed space is used at once', async () => {
  const disk = new SimulatedDisk();
  const engine = await open(disk);
  const expected: Expectation = new Map();
  await writeStep(['a 1'], 1)(engine, expected);

  disk.capacityBytes = 0;
  await expect(write(engine, 'm,t=a f=2 2\n')).rejects.toThrow('no space left on device');
  await expect(engine.flush()).rejects.toThrow('ENOSPC');
  expect(await scanRows(engine, 'm', [['f', 'float']])).toEqual([['m,t=a', 1n, 1]]);
  disk.capacityBytes = Number.POSITIVE_INFINITY;
  expected.set('a 2', { allowed: new Set([undefined, 2]) });
  await writeStep(['b 1'], 3)(engine, expected);
  await engine.flush();

  await check(disk.afterCrash(randomNumbers(7)), expected, 'full disk');
});

test('without free file handles writes are refused and work again later', async () => {
  const disk = new SimulatedDisk();
  const engine = await open(disk);

  disk.openFilesMax = disk.openFiles;
  await expect(write(engine, 'm f=1 1\n')).rejects.toThrow(Unavailable);
  disk.openFilesMax = Number.POSITIVE_INFINITY;
  await write(engine, 'm f=2 2\n');

  expect(await scanRows(engine, 'm', [['f', 'float']])).toEqual([['m', 2n, 2]]);
});

describe('damaged files', () => {
  /**
   * The two copies of the manifest are text without structure of its own: every eleventh byte is
   * every kind. A journal is mostly zeros.
   */
  const STEPS: Readonly<Record<string, number>> = { MANIFEST: 11, 'MANIFEST.': 61 };

  async function damagedStart(kind: string): Promise<{ disk: SimulatedDisk; path: string }> {
    const disk = new SimulatedDisk();
    const engine = await open(disk);
    await write(engine, 'm,t=a f=1,s="text" 1\nm,t=b f=2 2\n');
    await write(engine, 'n,t=a f=1 1\n');
    await engine.flush();
    await write(engine, 'm,t=a f=3 3\n');
    await write(engine, 'm,t=c f=4 4\n');
    await engine.close();
    const path = disk.paths().find((name) => name.includes(kind));
    expect(path).toBeDefined();
    return { disk, path: path! };
  }

  /** Opens and reads everything; only `Corruption` may come out of it. */
  async function survives(disk: SimulatedDisk): Promise<void> {
    let engine: StorageEngine;
    try {
      engine = await open(disk);
    } catch (error) {
      expect((error as Error).name).toBe('Corruption');
      return;
    }
    for (const measurement of ['m', 'n']) {
      try {
        await scanRows(engine, measurement, [
          ['f', 'float'],
          ['s', 'string'],
        ]);
      } catch (error) {
        expect((error as Error).name).toBe('Corruption');
      }
    }
    if ((await engine.damage()).length === 0) {
      await engine.writePoints({ policy: POLICY, points: [] });
    }
    await engine.close();
  }

  test.each(['.wal', '.seg', '.series', 'MANIFEST', 'MANIFEST.'])(
    'a flipped bit or a cut anywhere in a %s file gives data or Corruption',
    async (kind) => {
      const { disk, path } = await damagedStart(kind);
      const { length } = disk.bytes(path);
      const step = STEPS[kind] ?? 1;
      for (let at = 0; at < length; at += step) {
        const flipped = disk.copy();
        flipped.bytes(path)[at]! ^= 1 << (at % 8);
        await survives(flipped);
        if (at % 5 !== 0) continue;
        const cut = disk.copy();
        cut.replace(path, disk.bytes(path).slice(0, at));
        await survives(cut);
      }
    },
    300_000,
  );

  test('a segment that cannot be opened is not forgotten by later flushes and starts', async () => {
    const { disk, path } = await damagedStart('.seg');
    const sound = disk.bytes(path).slice();
    const broken = sound.slice();
    broken[broken.length - 1]! ^= 1;
    disk.replace(path, broken);

    for (let start = 0; start < 3; start++) {
      const engine = await open(disk);
      await expect(scanRows(engine, 'm', [['f', 'float']])).rejects.toThrow(Corruption);
      await write(engine, `m,t=d f=5 ${start + 5}\n`);
      await engine.flush();
      await engine.compact();
      await engine.close();
    }
    disk.replace(path, sound);
    const engine = await open(disk);

    const rows = await scanRows(engine, 'm', [['f', 'float']]);
    expect(rows.map(([, time]) => time)).toEqual([1n, 3n, 2n, 4n, 5n, 6n, 7n]);
  });

  test('a start without free file handles fails and leaves every file in place', async () => {
    const { disk } = await damagedStart('.seg');
    const before = disk.paths();
    const rows = await open(disk).then((engine) => scanRows(engine, 'm', [['f', 'float']]));
    const start = disk.copy();
    for (start.openFilesMax = 0; ; start.openFilesMax++) {
      const failure: unknown = await open(start).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) break;
      expect(String(failure)).toContain('EMFILE');
      expect(start.paths()).toEqual(before);
      start.openFiles = 0;
    }
    start.openFilesMax = Number.POSITIVE_INFINITY;

    const engine = await open(start);
    expect(await scanRows(engine, 'm', [['f', 'float']])).toEqual(rows);
  });
});
