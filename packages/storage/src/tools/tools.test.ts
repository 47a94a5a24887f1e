import { expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from '../engine/open-inline.ts';
import { scanRows, write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { inspectDirectory } from './inspect.ts';
import { repairDirectory } from './repair.ts';
import { verifyDirectory } from './verify.ts';

const FIELDS = [
  ['f', 'float'],
  ['s', 'string'],
] as const;

function open(disk: SimulatedDisk, directory: string): Promise<StorageEngine> {
  return openStorageInline({ directory, hasBackgroundWork: false }, { disk });
}

async function filled(disk: SimulatedDisk): Promise<StorageEngine> {
  const engine = await open(disk, '/data');
  await write(engine, 'm,t=a f=1,s="x" 1\nm,t=b f=2 2\n');
  await engine.flush();
  await write(engine, 'm,t=a f=3 3\n');
  return engine;
}

const ROWS = [
  ['m,t=a', 1n, 1, 'x'],
  ['m,t=a', 3n, 3, null],
  ['m,t=b', 2n, 2, null],
];

test('verify reads everything, finds a flipped bit, and repair keeps what is readable', async () => {
  const disk = new SimulatedDisk();
  const engine = await filled(disk);
  await engine.close();
  const sound = await verifyDirectory({ directory: '/data', disk });
  const path = disk.paths().find((name) => name.endsWith('.seg'))!;
  // The first chunk begins behind the header; its first block is the times of series a.
  disk.bytes(path)[17]! ^= 1;

  const damaged = await verifyDirectory({ directory: '/data', disk });
  const repaired = await repairDirectory({ directory: '/data', disk });

  expect(sound).toMatchObject({ damage: [], rows: 2 });
  expect(damaged.damage).toMatchObject([{ file: path, offset: 16 }]);
  expect(repaired).toMatchObject({ segmentsRewritten: 1, rowsKept: 1, lost: [{ rows: 1 }] });
  expect((await verifyDirectory({ directory: '/data', disk })).damage).toEqual([]);
  const again = await open(disk, '/data');
  expect(await scanRows(again, 'm', FIELDS)).toEqual(ROWS.slice(1));
});

test.each(['.wal', '.series', 'MANIFEST', 'SHARD', 'SERIES'])(
  'verify names damage in a %s file, repair keeps the rest and the engine opens without complaint',
  async (kind) => {
    const disk = new SimulatedDisk();
    const engine = await filled(disk);
    await write(engine, 'm,t=c f=4 4\n');
    await engine.flush();
    await write(engine, 'm,t=d f=5 5\n');
    await write(engine, 'm,t=e f=6 6\n');
    await engine.close();
    const path = disk.paths().find((name) => name.endsWith(kind))!;
    disk.bytes(path)[30]! ^= 1;

    const damaged = await verifyDirectory({ directory: '/data', disk });
    const repaired = await repairDirectory({ directory: '/data', disk });
    const complaints: string[] = [];
    const again = await openStorageInline(
      {
        directory: '/data',
        hasBackgroundWork: false,
        log: (_level, text) => complaints.push(text),
      },
      { disk },
    );

    expect(damaged.damage).toMatchObject([{ file: path }]);
    // All but the log is there twice.
    const isLog = kind === '.wal';
    expect(repaired.lost).toHaveLength(isLog ? 1 : 0);
    expect(repaired.logsRewritten).toBe(isLog ? 1 : 0);
    expect(repaired.indexesRewritten).toBe(kind === '.series' ? 1 : 0);
    // It names the others.
    const isNamed = ['SHARD', 'SERIES', '.series'].includes(kind);
    expect(repaired.shardFilesRewritten).toBe(isNamed ? 1 : 0);
    expect(repaired.seriesFilesRewritten).toBe(kind === 'SERIES' ? 1 : 0);
    expect((await verifyDirectory({ directory: '/data', disk })).damage).toEqual([]);
    expect(complaints).toEqual([]);
    expect(await scanRows(again, 'm', FIELDS)).toHaveLength(isLog ? 5 : 6);
  },
);

test('verify notes a file that the process did not write before it ended', async () => {
  const disk = new SimulatedDisk();
  const engine = await filled(disk);
  await engine.flush();
  await engine.close();
  const path = disk.paths().find((name) => name.endsWith('SHARD'))!;
  disk.remove(path);

  const noted = await verifyDirectory({ directory: '/data', disk });
  const again = await open(disk, '/data');
  await write(again, 'm,t=c f=4 4\n');
  await again.flush();
  await again.close();
  const written = await verifyDirectory({ directory: '/data', disk });

  expect(noted).toMatchObject({ damage: [], unwritten: [{ file: path }] });
  expect(written).toMatchObject({ damage: [], unwritten: [] });
});

test('a damaged frame of texts is found, and repair keeps the rows of the other series', async () => {
  const disk = new SimulatedDisk();
  const engine = await open(disk, '/data');
  const text = (row: number): string =>
    `${row} ${Math.imul(row + 1, 0x9e3779b1) >>> 0} is the answer`;
  const rows = Array.from({ length: 400 }, (_, row) => `s="${text(row)}" ${row}`);
  for (const series of ['a', 'b']) {
    await write(engine, rows.map((row) => `m,t=${series} ${row}`).join('\n'));
  }
  await engine.flush();
  await engine.close();
  const path = disk.paths().find((name) => name.endsWith('.seg'))!;
  const [shard] = await inspectDirectory({ directory: '/data', disk });
  const [, column] = shard!.segments[0]!.measurements[0]!.columns;
  // A frame is no text that could be found: its bytes are coded.
  const middle = column!.bytes >> 2;
  disk.bytes(path)[middle]! ^= 1;

  const damaged = await verifyDirectory({ directory: '/data', disk });
  const repaired = await repairDirectory({ directory: '/data', disk });
  const again = await open(disk, '/data');
  const left = await scanRows(again, 'm', [['s', 'string']]);

  expect(column!.encodings).toEqual({ frames: 2 });
  expect(damaged.damage).toMatchObject([{ file: path }]);
  expect(repaired).toMatchObject({ segmentsRewritten: 1, rowsKept: 400, lost: [{ rows: 400 }] });
  expect((await verifyDirectory({ directory: '/data', disk })).damage).toEqual([]);
  expect(left).toEqual(rows.map((_, row) => ['m,t=b', BigInt(row), text(row)]));
});

test('inspect tells what is in a shard', async () => {
  const disk = new SimulatedDisk();
  const engine = await filled(disk);
  await engine.flush();
  await engine.compact();
  await engine.close();

  const progress: number[] = [];
  const [shard] = await inspectDirectory({
    directory: '/data',
    disk,
    onProgress: ({ doneBytes, totalBytes }) => progress.push(doneBytes / totalBytes),
  });

  expect(progress).toEqual([0]);
  expect(shard?.segments).toMatchObject([
    {
      level: 1,
      measurements: [
        {
          name: 'm',
          series: 2,
          rows: 3,
          chunks: 2,
          columns: [
            { name: 'time', type: 'time', values: 3, encodings: { constant: 1, step: 1 } },
            { name: 'f', type: 'float', values: 3, encodings: { constant: 1, scaled: 1 } },
            { name: 's', type: 'string', values: 1, encodings: { dictionary: 1 } },
          ],
        },
      ],
    },
  ]);
});
