import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CodecError } from '@tidemark/kernels';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalTags } from '@tidemark/storage-api';
import type { StorageEngine } from '@tidemark/storage-api';

import { DecodeError } from '../columns/bytes.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import type { StorageEnvironment } from '../engine/environment.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import { scanRows, schemaBatches, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { checkpointPath, readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { SeriesIndex } from './series-index.ts';

const disk = nodeDisk();
const pause = async (): Promise<void> => {};
const syncLog = pause;

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'checkpoint-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function rangeOf(index: SeriesIndex): {
  measurements: number;
  series: number;
  logBytes: number;
} {
  return { measurements: index.measurements.length, series: index.seriesEnd, logBytes: 1 };
}

const part = fc.oneof(
  fc.constantFrom('a', 'host', 'x y', 'k=v', 'c,d', 'é'),
  fc.stringMatching(/^[a-z ,=]{1,8}$/),
);

test('an index comes back from its checkpoint and goes on from there', async () => {
  await withDirectory(async (directory) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(part, fc.array(fc.tuple(part, part), { maxLength: 4 })), {
          maxLength: 30,
        }),
        async (all) => {
          const index = new SeriesIndex('db');
          for (const [name, tags] of all) {
            index.addSeries(index.addMeasurement(name), canonicalTags(tags));
          }
          const path = join(directory, 'checkpoint');
          await writeCheckpoint(index, rangeOf(index), { disk, directory, path, pause, syncLog });
          const copy = new SeriesIndex('db');

          expect(readCheckpoint(copy, { disk, path })).toEqual(rangeOf(index));

          expect(copy.measurements.map((m) => m.name)).toEqual(
            index.measurements.map((m) => m.name),
          );
          for (let id = 0; id < index.seriesEnd; id++) {
            expect(copy.seriesKey(id)).toBe(index.seriesKey(id));
            expect(copy.tags(id)).toEqual(index.tags(id));
            const owner = copy.measurementOf(id);
            expect(owner.name).toBe(index.measurementOf(id).name);
            expect(copy.findSeries(owner, copy.tags(id))).toBe(id);
          }
          for (const one of [index, copy]) {
            const added = one.addSeries(one.addMeasurement('new'), [['host', 'new one']]);
            expect(added).toBe(one.seriesEnd - 1);
            expect(one.seriesKey(added)).toBe('new,host=new\\ one');
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});

test('a bit that flips anywhere in a checkpoint is noticed', async () => {
  await withDirectory(async (directory) => {
    const index = new SeriesIndex('db');
    for (let i = 0; i < 40; i++) {
      index.addSeries(index.addMeasurement(`m${i % 3}`), [['host', `h${i}`]]);
    }
    const path = join(directory, 'checkpoint');
    await writeCheckpoint(index, rangeOf(index), { disk, directory, path, pause, syncLog });
    const good = readFileSync(path);

    // The magic at the begin is for people; that of the end is checked.
    for (let at = 8; at < good.length; at += 3) {
      const bytes = Uint8Array.from(good);
      bytes[at]! ^= 1 << (at % 8);
      writeFileSync(path, bytes);
      expect(() => readCheckpoint(new SeriesIndex('db'), { disk, path })).toThrow(
        expect.toSatisfy((e: unknown) => e instanceof DecodeError || e instanceof CodecError),
      );
    }
    for (const length of [0, 7, 31, good.length - 1]) {
      writeFileSync(path, good.subarray(0, length));
      expect(() => readCheckpoint(new SeriesIndex('db'), { disk, path })).toThrow(DecodeError);
    }
  });
});

const SERIES = 3000;

async function fill(first: number, count: number, { engine }: TestEngine): Promise<void> {
  const lines = Array.from(
    { length: count },
    (_, i) => `m${i % 2},host=h${first + i},dc=dc${i % 7} f=1 1`,
  );
  await write(engine, lines.join('\n'));
}

async function keysOf({ engine }: TestEngine): Promise<string[]> {
  const batches = await schemaBatches(engine, { kind: 'series', filter: { database: 'db' } });
  return batches.flatMap((batch) => (batch.kind === 'series' ? [...batch.keys] : []));
}

test('a clean stop leaves a checkpoint; opening reads what it covers nowhere else', async () => {
  const one = await testEngine();
  try {
    await fill(0, SERIES, one);
    await one.engine.flush();
    const log = join(one.directory, 'index', '00000001.series');
    const covered = statSync(log).size;
    const keys = await keysOf(one);
    await one.reopen();
    const path = checkpointPath(join(one.directory, 'index'), 1);
    expect(existsSync(path)).toBe(true);
    await fill(SERIES, 10, one);
    await one.engine.flush();
    const all = await keysOf(one);
    await one.engine.close();

    // An index that read the covered part of the log again would lose its series now.
    const bytes = readFileSync(log);
    bytes.fill(0, 16, covered);
    writeFileSync(log, bytes);
    await one.reopen('crash');

    expect(keys).toHaveLength(SERIES);
    expect(all).toHaveLength(SERIES + 10);
    expect(await keysOf(one)).toEqual(all);
    await fill(0, SERIES, one);
    expect(await keysOf(one)).toEqual(all);
  } finally {
    await one.dispose();
  }
});

test.each([
  ['damaged', (path: string) => damage(path)],
  ['missing', (path: string) => rmSync(path)],
  ['of another version', (path: string) => damage(path, statSync(path).size - 2)],
])('a checkpoint that is %s is replaced by the replay', async (_, spoil) => {
  const one = await testEngine();
  try {
    await fill(0, SERIES, one);
    await one.engine.flush();
    const keys = await keysOf(one);
    await one.engine.close();
    spoil(checkpointPath(join(one.directory, 'index'), 1));

    await one.reopen('crash');

    expect(await keysOf(one)).toEqual(keys);
  } finally {
    await one.dispose();
  }
});

function damage(path: string, at = Math.floor(statSync(path).size / 2)): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 4;
  writeFileSync(path, bytes);
}

test('a checkpoint is written while running when many series are new, and left when none is', async () => {
  const one = await testEngine();
  try {
    for (let first = 0; first < 60_000; first += 20_000) await fill(first, 20_000, one);
    await one.engine.flush();
    const path = checkpointPath(join(one.directory, 'index'), 1);
    const written = statSync(path);
    await fill(60_000, 5, one);
    await one.engine.flush();
    expect(statSync(path).ino).toBe(written.ino);

    // As after a kill: nothing is closed.
    await one.reopen('crash');

    expect(await keysOf(one)).toHaveLength(60_005);
  } finally {
    await one.dispose();
  }
});

test('a checkpoint lacks no series whose delete a power cut takes back', async () => {
  const disk = new SimulatedDisk();
  const open = (environment: Partial<StorageEnvironment>): Promise<StorageEngine> =>
    openStorageInline(
      {
        directory: '/data',
        hasBackgroundWork: false,
        walFsync: 'interval',
        checkpointSeriesMin: 0,
      },
      environment,
    );
  let isCommitted = false;
  const engine: StorageEngine = await open({
    disk,
    fault: async (point) => {
      if (point !== 'manifest:after' || isCommitted) return;
      isCommitted = true;
      await engine.delete({ database: 'db', measurements: ['m'] });
    },
  });
  await write(engine, 'm,t=a v=1 1');
  await engine.flush();
  expect(isCommitted).toBe(true);

  const after = await open({ disk: disk.afterCrash(() => 0) });
  await write(after, 'm,t=a v=2 1');

  expect(await scanRows(after, 'm', [['v', 'float']])).toEqual([['m,t=a', 1n, 2]]);
});
