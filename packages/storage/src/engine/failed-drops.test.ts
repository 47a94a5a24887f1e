// A drop of a policy that cannot be logged: its names are gone already, and may be reused.
import { Readable } from 'node:stream';

import { Unavailable } from '@tidemark/core';
import type { SchemaRequest } from '@tidemark/query';
import { beforeEach, expect, test } from 'vitest';
import { retainPolicies } from '@tidemark/storage-api';
import type { StorageEngine } from '@tidemark/storage-api';

import { POLICY, scanRows, schemaBatches, write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { openStorageInline } from './open-inline.ts';

/** The log is written to its file, and once more to a new one. */
const FAILED_SYNCS = 2;
const SUCCESSOR = { id: 2 };

let disk: SimulatedDisk;

beforeEach(() => {
  disk = new SimulatedDisk();
});

function open(directory = '/data'): Promise<StorageEngine> {
  return openStorageInline({ directory, hasBackgroundWork: false }, { disk });
}

async function rows(engine: StorageEngine): Promise<string[]> {
  const all = await scanRows(engine, 'm', [['v', 'float']]);
  return all.map(([series, time, value]) => `${series} ${time} ${value}`);
}

/** An engine with rows, whose policy could not be dropped. */
async function undropped(): Promise<StorageEngine> {
  const engine = await open();
  await write(engine, 'm,t=a v=1 1\nm,t=b v=1 1');
  await engine.flush();
  await write(engine, 'm,t=a v=2 2');
  disk.failSyncs = FAILED_SYNCS;
  await expect(engine.dropPolicy(POLICY.id)).rejects.toThrow(Unavailable);
  return engine;
}

test('old data are gone before new data have their name', async () => {
  const engine = await undropped();

  await write(engine, 'm,t=a v=7 1', SUCCESSOR);

  expect(await rows(engine)).toEqual(['m,t=a 1 7']);
  expect(await engine.shards()).toMatchObject([{ policyId: SUCCESSOR.id }]);
  expect(await rows(await open())).toEqual(['m,t=a 1 7']);
});

test('while it cannot be dropped, nothing is written to its database', async () => {
  const engine = await undropped();
  disk.failSyncs = FAILED_SYNCS;

  await expect(write(engine, 'm,t=a v=7 1', SUCCESSOR)).rejects.toThrow(Unavailable);

  expect(await rows(engine)).toEqual([]);
  await write(engine, 'm v=1 1', { id: 3, database: 'other' });
  await Promise.all([
    write(engine, 'm,t=a v=8 1', SUCCESSOR),
    write(engine, 'm,t=b v=8 1', SUCCESSOR),
  ]);
  expect(await rows(engine)).toEqual(['m,t=a 1 8', 'm,t=b 1 8']);
});

test('one of several policies that cannot be dropped keeps none of the others', async () => {
  const engine = await open();
  await write(engine, 'm v=1 1');
  await write(engine, 'm v=2 2', SUCCESSOR);
  disk.failSyncs = FAILED_SYNCS;

  await expect(retainPolicies(engine, [])).rejects.toThrow(Unavailable);
  await write(engine, 'm v=3 3', { id: 3 });

  expect(await rows(engine)).toEqual(['m 3 3']);
});

test('data of a failed drop are visible under no name', async () => {
  const engine = await undropped();
  const filter = { database: POLICY.database };
  const schema = (request: SchemaRequest): Promise<unknown> => schemaBatches(engine, request);

  expect(await rows(engine)).toEqual([]);
  expect(await engine.shards()).toEqual([]);
  expect(await schema({ kind: 'measurements', filter })).toEqual([]);
  expect(await schema({ kind: 'cardinality', of: 'series', filter })).toMatchObject([{ count: 0 }]);
  const measurements = ['m'];
  expect(await schema({ kind: 'series-cardinality', filter: { ...filter, measurements } })).toEqual(
    [],
  );
});

test('data of a failed drop are in no backup, and do not block a restore under their name', async () => {
  const engine = await open();
  await write(engine, 'm v=1 1', { id: 3, database: 'other' });
  const full = await backUp(engine);
  await write(engine, 'm,t=a v=1 1');
  disk.failSyncs = FAILED_SYNCS;
  await expect(engine.dropPolicy(POLICY.id)).rejects.toThrow(Unavailable);

  const later = await backUp(engine);
  const restored = await engine.restore(
    { databases: new Map([['other', POLICY.database]]), policies: new Map([[3, SUCCESSOR.id]]) },
    Readable.from(full),
  );

  expect(restored).toMatchObject({ databases: [POLICY.database], shards: 1 });
  expect(await rows(engine)).toEqual(['m 1 1']);
  const copy = await open('/copy');
  await copy.restore(
    { databases: new Map([['db', 'db']]), policies: new Map([[POLICY.id, POLICY.id]]) },
    Readable.from(later),
  );
  expect(await rows(copy)).toEqual([]);
});

async function backUp(engine: StorageEngine): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of engine.backup({})) pieces.push(piece);
  return pieces;
}
