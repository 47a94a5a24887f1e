// Shards that earlier builds left behind: `verify` finds them, `repair` sets them aside.
import { beforeEach, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from '../engine/open-inline.ts';
import type { StorageEnvironment } from '../engine/environment.ts';
import { POLICY, scanRows, write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { repairDirectory } from './repair.ts';
import { verifyDirectory } from './verify.ts';

const FIELDS = [['v', 'float']] as const;
const WEEK = 604_800_000_000_000n;
const LONG = { id: 2, retentionPolicy: 'long' };

let disk: SimulatedDisk;

beforeEach(() => {
  disk = new SimulatedDisk();
});

function open(environment: Partial<StorageEnvironment> = {}): Promise<StorageEngine> {
  return openStorageInline(
    { directory: '/data', hasBackgroundWork: false },
    { disk, ...environment },
  );
}

/** Segments and log records of two policies; the orphan is in the second one. */
async function fill(second: Partial<typeof POLICY>): Promise<void> {
  const engine = await open();
  await write(engine, 'm,t=a v=1 1');
  await write(engine, `m,t=a v=2 2\nm,t=b v=2 ${WEEK + 1n}`, second);
  await engine.flush();
  await engine.close();
}

const known = (...policies: readonly Partial<typeof POLICY>[]): readonly (typeof POLICY)[] =>
  policies.map((policy) => ({ ...POLICY, ...policy }));

test.each([
  {
    what: 'of a policy that the catalog does not have',
    second: LONG,
    policies: known({}),
    orphans: [2, 3],
    reason: 'its retention policy was dropped',
  },
  {
    what: 'of a policy whose id the catalog has under another name',
    second: LONG,
    policies: known({}, { id: 2, retentionPolicy: 'short' }),
    orphans: [2, 3],
    reason: "its policy's id is that of `db`.`short`",
  },
  {
    what: 'of a policy that was dropped and created again, without a catalog',
    second: { id: 7 },
    policies: undefined,
    orphans: [1],
    reason: 'a retention policy of the same name came later, with shard 2',
  },
])('a shard $what is found and set aside', async ({ second, policies, orphans, reason }) => {
  await fill(second);
  const options = { directory: '/data', disk, policies };

  const found = await verifyDirectory(options);
  const repaired = await repairDirectory(options);
  const left = await verifyDirectory(options);

  expect(found.damage).toEqual([]);
  expect(found.orphans.map(({ shardId }) => shardId)).toEqual(orphans);
  expect(found.orphans[0]?.message).toContain(reason);
  expect(repaired).toMatchObject({ setAside: found.orphans, lost: [], movedTo: '/data/damaged' });
  expect([left.damage, left.orphans]).toEqual([[], []]);
  for (const id of orphans) {
    expect(disk.paths().filter((path) => path.startsWith(`/data/shards/${id}/`))).toEqual([]);
    const kept = disk.paths().filter((path) => path.startsWith(`/data/damaged/${id}-`));
    expect(kept.filter((path) => path.endsWith('.seg'))).toHaveLength(1);
  }
  const engine = await open();
  const shards = (await engine.shards()).map(({ id }) => id);
  expect(shards).toEqual([1, 2, 3].filter((id) => !orphans.includes(id)));
  const kept = orphans.includes(1) ? [2n, WEEK + 1n] : [1n];
  expect((await scanRows(engine, 'm', FIELDS)).map(([, time]) => time)).toEqual(kept);
  await engine.close();
});

test.each([
  ['log only', '/data/wal/00000001.wal'],
  ['log and in a segment', '/data/wal/00000002.wal'],
])('an orphan with rows in the %s is found and set aside', async (where, logFile) => {
  const engine = await open();
  if (where !== 'log only') {
    await write(engine, 'm,t=a v=1 1');
    await engine.flush();
  }
  await write(engine, 'm,t=a v=1 2');
  await write(engine, `m,t=a v=2 ${WEEK + 1n}`, { database: 'other' });
  await engine.close();
  const options = { directory: '/data', disk };

  const found = await verifyDirectory(options);
  const repaired = await repairDirectory(options);
  const left = await verifyDirectory(options);

  expect(found.orphans).toMatchObject([{ shardId: 1, logFiles: [logFile] }]);
  expect(repaired).toMatchObject({ setAside: found.orphans, lost: [] });
  expect([left.damage, left.orphans]).toEqual([[], []]);
  expect(disk.paths().filter((path) => /^\/data\/damaged\/.*\.wal$/.test(path))).toHaveLength(1);
  const again = await open();
  expect((await again.shards()).map(({ id }) => id)).toEqual([2]);
  await again.close();
});

test('rows of an orphan in several files of the log are set aside', async () => {
  const engine = await open({
    fault: () => {
      throw new Error('the flush fails');
    },
  });
  await write(engine, 'm,t=a v=1 1');
  await expect(engine.flush()).rejects.toThrow('the flush fails');
  await write(engine, 'm,t=a v=1 2');
  await write(engine, `m,t=a v=2 ${WEEK + 1n}`, { database: 'other' });
  await engine.close();
  const options = { directory: '/data', disk };

  const repaired = await repairDirectory(options);
  const left = await verifyDirectory(options);

  const files = ['/data/wal/00000001.wal', '/data/wal/00000002.wal'];
  expect(repaired.setAside).toMatchObject([{ shardId: 1, logFiles: files }]);
  expect([left.damage, left.orphans]).toEqual([[], []]);
  const again = await open();
  expect((await again.shards()).map(({ id }) => id)).toEqual([2]);
  await again.close();
});

test('a policy id that was used twice is that of its newest shard', async () => {
  const engine = await open();
  await write(engine, 'm,t=a v=1 1');
  await write(engine, `m,t=a v=2 ${WEEK + 1n}`, { database: 'other' });
  await engine.flush();
  await engine.close();

  const { orphans } = await verifyDirectory({ directory: '/data', disk });

  expect(orphans).toMatchObject([{ shardId: 1 }]);
  expect(orphans[0]?.message).toContain("its policy's id is that of `other`.`autogen`");
});

test('a shard whose drop is in the log is no orphan: the next start removes it', async () => {
  await fill(LONG);
  let left: SimulatedDisk | undefined;
  const engine = await open({
    fault: (point) => {
      if (point === 'drop:logged') left = disk.copy();
    },
  });
  await engine.dropPolicy(2);
  await engine.close();

  const { orphans, damage } = await verifyDirectory({
    directory: '/data',
    disk: left!,
    policies: known({}),
  });

  expect([orphans, damage]).toEqual([[], []]);
});

test('sound shards stay where they are, with a catalog and without', async () => {
  await fill(LONG);
  const before = disk.paths();

  for (const policies of [undefined, known({}, LONG)]) {
    const options = { directory: '/data', disk, policies };
    expect((await verifyDirectory(options)).orphans).toEqual([]);
    expect((await repairDirectory(options)).setAside).toEqual([]);
  }
  expect(disk.paths()).toEqual(before);
});
