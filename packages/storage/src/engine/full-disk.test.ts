// A full disk: statements that free space use the reserved space, everything else waits until there
// is space again.
import { Readable } from 'node:stream';

import { Unavailable } from '@tidemark/core';
import { beforeEach, expect, test } from 'vitest';
import { retainPolicies } from '@tidemark/storage-api';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from './open-inline.ts';
import { POLICY, scanRows, write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';

const RESERVE_BYTES = 1 << 16;
const RESERVE = '/data/RESERVE';
const NO_SPACE = 'no space left on device';
const OTHER = { id: 2, database: 'other' };

let disk: SimulatedDisk;
let logged: string[];

beforeEach(() => {
  disk = new SimulatedDisk();
  logged = [];
  disk.replace(RESERVE, new Uint8Array(RESERVE_BYTES));
});

function open(reserveBytes = RESERVE_BYTES): Promise<StorageEngine> {
  return openStorageInline(
    {
      directory: '/data',
      hasBackgroundWork: false,
      reserveBytes,
      log: (_level, message) => void logged.push(message),
    },
    { disk },
  );
}

/**
 * Rows of two databases in segments and in the log; those of `other` take more than two reserves.
 */
async function fill(engine: StorageEngine): Promise<void> {
  const random = Array.from({ length: 30_000 }, (_, i) => `m v=${Math.random()} ${i}\n`);
  await write(engine, random.slice(10_000).join(''), OTHER);
  await write(engine, 'm,t=a v=1 1\nm,t=b v=2 2\n');
  await engine.flush();
  await write(engine, random.slice(0, 10_000).join(''), OTHER);
  await write(engine, 'm,t=a v=3 3\n');
  disk.fill();
}

const rows = (engine: StorageEngine): ReturnType<typeof scanRows> =>
  scanRows(engine, 'm', [['v', 'float']]);

test('a policy is dropped when nothing more fits, and what it frees is written to at once', async () => {
  const engine = await open();
  await fill(engine);
  await expect(write(engine, 'm,t=a v=4 4\n')).rejects.toThrow(NO_SPACE);

  await engine.dropPolicy(OTHER.id);

  expect(await engine.shards()).toMatchObject([{ database: 'db' }]);
  expect(disk.paths()).toContain(RESERVE);
  await write(engine, 'm,t=a v=4 4\n');
  expect(await rows(engine)).toHaveLength(4);
});

test('a delete works too; as it frees nothing, writes are refused until something else does', async () => {
  const engine = await open();
  await fill(engine);

  await engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'a' },
  });

  expect(await rows(engine)).toEqual([['m,t=b', 2n, 2]]);
  expect(disk.paths()).not.toContain(RESERVE);
  const refused = write(engine, 'm,t=a v=4 4\n');
  await expect(refused).rejects.toThrow(Unavailable);
  await expect(refused).rejects.toThrow(/no space left on device.*setting=`data.reserve-size`/);
  await engine.dropPolicy(OTHER.id);
  await write(engine, 'm,t=a v=4 4\n');
});

test('a start finds the room that is kept; drops and deletes work before anything else does', async () => {
  const before = await open();
  await fill(before);
  const engine = await open();

  expect(await rows(engine)).toHaveLength(3);
  await engine.dropMeasurement('db', 'm');
  expect(await rows(engine)).toEqual([]);
  await retainPolicies(engine, [POLICY]);
  await write(engine, 'm,t=a v=4 4\n');

  const after = await open();
  expect(await rows(after)).toEqual([['m,t=a', 4n, 4]]);
  expect(logged).toContain('there is space again: writes are taken');
});

test.each(['no byte fits', 'syncs fail'])(
  'a restore says that the disk is the reason and leaves nothing: %s',
  async (what) => {
    const engine = await open();
    await write(engine, 'm,t=a v=1 1\nm,t=b v=2 2\n');
    const pieces: Uint8Array[] = [];
    for await (const piece of engine.backup({ databases: ['db'] })) pieces.push(piece);
    const before = disk.paths();
    const restore = (): Promise<unknown> =>
      engine.restore(
        { databases: new Map([['db', 'again']]), policies: new Map([[POLICY.id, 7]]) },
        Readable.from(pieces),
      );
    if (what === 'syncs fail') disk.failSyncs = 1;
    else disk.fill();

    const refused = restore();

    await expect(refused).rejects.toThrow(Unavailable);
    await expect(refused).rejects.toThrow(
      what === 'syncs fail' ? /cannot be restored: .*EIO/ : `cannot be restored: ${NO_SPACE}`,
    );
    expect(disk.paths()).toEqual(before);
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    expect(await restore()).toMatchObject({ databases: ['again'] });
  },
);

test('no room is kept where none was asked for: the disk is as full as it is', async () => {
  disk.remove(RESERVE);
  const engine = await open(0);
  await fill(engine);

  await expect(engine.dropPolicy(OTHER.id)).rejects.toThrow(NO_SPACE);
  disk.capacityBytes += 1;
  await expect(write(engine, 'm,t=a v=4 4\n')).rejects.toThrow(NO_SPACE);
});
