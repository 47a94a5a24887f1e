import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NANOS_PER_WEEK } from '@tidemark/core';
import type { SchemaBatch, SchemaRequest } from '@tidemark/query';
import { expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { schemaBatches, write } from '../testing/fixtures.ts';
import { openStorage } from './open-storage.ts';
import { SchemaChanges, SchemaVersions } from '../series/schema-version.ts';
import type { SchemaScope } from '../series/schema-version.ts';
import { SchemaCache } from './schema-cache.ts';

const KEYS = { kind: 'tag-keys', filter: { database: 'db' } } as const;
const ANSWER: readonly SchemaBatch[] = [{ kind: 'tag-keys', measurement: 'm', keys: ['t'] }];

const fieldsIn = (start: bigint, end: bigint) =>
  ({ kind: 'fields', filter: { database: 'db', timeRange: { start, end } } }) as const;

const SHARDS = [
  { retentionPolicy: 'autogen', start: 0n, end: 10n },
  { retentionPolicy: 'autogen', start: 10n, end: 20n },
];

/** A cache over counters of its own, and what is kept at present. */
function cacheOf(database = 'db') {
  const versions = new SchemaVersions();
  const stamp = (scope: SchemaScope) => ({ scope, version: versions.of(database, scope) });
  return {
    cache: new SchemaCache(versions),
    stamp,
    changes: new SchemaChanges(database, versions),
    versions,
  };
}

test('an answer is kept until a series of its database comes', () => {
  const { cache, stamp, changes, versions } = cacheOf();
  cache.set(KEYS, ANSWER, { stamp: stamp('series') });

  expect(cache.get(KEYS)).toBe(ANSWER);
  expect(cache.get({ ...KEYS, filter: { database: 'other' } })).toBeUndefined();
  new SchemaChanges('other', versions).names();
  expect(cache.get(KEYS)).toBe(ANSWER);
  changes.series();
  expect(cache.get(KEYS)).toBeUndefined();
});

test('names are kept until names of their database change, whatever series come', () => {
  const { cache, stamp, changes } = cacheOf();
  const filter = { database: 'db', measurements: ['m'] };
  cache.setNames(filter, [], { stamp: stamp('names'), sizeBytes: 100 });

  changes.series();
  expect(cache.names(filter)).toEqual([]);
  expect(cache.names({ ...filter, measurements: ['n'] })).toBeUndefined();
  changes.names();
  expect(cache.names(filter)).toBeUndefined();
});

test('names by a pattern are kept like those of a measurement, apart from them', () => {
  const { cache, stamp, changes } = cacheOf();
  const pattern = { database: 'db', measurementPattern: 'm' };
  cache.setNames(pattern, [], { stamp: stamp('names'), sizeBytes: 100 });

  changes.series();
  expect(cache.names(pattern)).toEqual([]);
  expect(cache.names({ database: 'db', measurements: ['m'] })).toBeUndefined();
  expect(cache.names({ database: 'db' })).toBeUndefined();
  expect(cache.names({ ...pattern, measurements: ['m'] })).toBeUndefined();
  changes.names();
  expect(cache.names(pattern)).toBeUndefined();
});

test('time ranges over the same shards share an answer, others do not', () => {
  const { cache, stamp } = cacheOf();
  expect(cache.lacksShards(fieldsIn(1n, 2n))).toBe(true);
  cache.set(fieldsIn(1n, 2n), ANSWER, { stamp: stamp('series'), shards: SHARDS });

  expect(cache.lacksShards(fieldsIn(1n, 2n))).toBe(false);
  expect(cache.get(fieldsIn(3n, 9n))).toBe(ANSWER);
  expect(cache.get(fieldsIn(3n, 10n))).toBeUndefined();
  expect(cache.get(fieldsIn(10n, 19n))).toBeUndefined();
});

test('a range of unknown shards is not kept', () => {
  const { cache, stamp } = cacheOf();
  cache.set(fieldsIn(1n, 2n), ANSWER, { stamp: stamp('series') });

  expect(cache.get(fieldsIn(1n, 2n))).toBeUndefined();
});

test('answers that are used least make room', () => {
  const { cache, stamp } = cacheOf();
  const large = (name: string): readonly SchemaBatch[] => [
    {
      kind: 'series',
      measurement: 'm',
      keys: Array.from({ length: 100 }, () => name.padEnd(32_000)),
    },
  ];
  const request = (database: string) => ({ kind: 'series', filter: { database } }) as const;
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    cache.set(request(name), large(name), { stamp: stamp('series') });
    cache.get(request('a'));
  }
  cache.set(request('f'), large('f'), { stamp: stamp('series') });

  expect(cache.get(request('a'))).toBeDefined();
  expect(cache.get(request('b'))).toBeUndefined();
  expect(cache.get(request('f'))).toBeDefined();
});

/** Asked twice, so that the second answer may be a kept one. */
async function twice(engine: StorageEngine, request: SchemaRequest): Promise<SchemaBatch[]> {
  const first = await schemaBatches(engine, request);
  expect(await schemaBatches(engine, request)).toEqual(first);
  return first;
}

test('the next look-up sees the changes of a write, a delete or a drop', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'schema-cache-'));
  const engine = await openStorage({ directory });
  const week = NANOS_PER_WEEK;
  const fields = (): Promise<SchemaBatch[]> => twice(engine, fieldsIn(0n, week));
  const series = (): Promise<SchemaBatch[]> =>
    twice(engine, { kind: 'series', filter: { database: 'db' } });
  await write(engine, 'm,t=a f=1 1\n');
  expect(await fields()).toEqual([
    { kind: 'fields', measurement: 'm', fields: [{ name: 'f', type: 'float' }] },
  ]);
  expect(await series()).toEqual([{ kind: 'series', measurement: 'm', keys: ['m,t=a'] }]);

  await write(engine, `m,t=a g=2i 1\nm,t=b f=3 ${3n * week}\n`);
  expect(await fields()).toEqual([
    {
      kind: 'fields',
      measurement: 'm',
      fields: [
        { name: 'f', type: 'float' },
        { name: 'g', type: 'integer' },
      ],
    },
  ]);
  expect(await series()).toEqual([{ kind: 'series', measurement: 'm', keys: ['m,t=a', 'm,t=b'] }]);

  const where = { kind: 'tag', key: 't', operator: '=', value: 'a' } as const;
  await engine.delete({ database: 'db', measurements: ['m'], where });
  expect(await series()).toEqual([{ kind: 'series', measurement: 'm', keys: ['m,t=b'] }]);
  await engine.dropMeasurement('db', 'm');
  expect(await series()).toEqual([]);
  expect(await fields()).toEqual([]);
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The names that analysis gets for a measurement, and whether it had to wait for them. */
async function names(engine: StorageEngine, measurement = 'm') {
  const snapshot = engine.source.snapshot();
  const { signal } = new AbortController();
  const steps = snapshot.names({ database: 'db', measurements: [measurement] }, { signal });
  let hasWaited = false;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) {
    hasWaited = true;
    await step.value;
  }
  snapshot.close();
  const [found] = step.value;
  const schema = found?.schema('autogen', { start: 0n, end: NANOS_PER_WEEK * 9n });
  return {
    hasWaited,
    fields: Object.fromEntries(schema?.fields ?? []),
    tags: [...(found?.tags ?? [])],
  };
}

test('names need not be waited for again until a name comes or goes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'schema-cache-'));
  const engine = await openStorage({ directory });
  await write(engine, 'm,t=a f=1 1\n');
  const known = { fields: { f: 'float' }, tags: ['t'] };
  expect(await names(engine)).toEqual({ ...known, hasWaited: true });

  await write(engine, 'm,t=b f=1 1\nm,t=a f=2 2\n');
  expect(await names(engine)).toEqual({ ...known, hasWaited: false });
  await engine.delete({
    database: 'db',
    measurements: ['m'],
    where: { kind: 'tag', key: 't', operator: '=', value: 'a' },
  });
  expect(await names(engine)).toEqual({ ...known, hasWaited: true });

  await write(engine, 'm,u=c f=1 1\n');
  expect(await names(engine)).toEqual({ ...known, tags: ['t', 'u'], hasWaited: true });
  await write(engine, 'm,u=c g=1i 1\n');
  expect(await names(engine)).toMatchObject({ fields: { f: 'float', g: 'integer' } });
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

test('names that come in several messages need not be waited for again either', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'schema-cache-'));
  const engine = await openStorage({ directory });
  const values = Array.from({ length: 20_000 }, (_, i) => `field_of_a_flat_document_${i}=1`);
  await write(engine, `m ${values.join(',')} 1`);
  const first = await names(engine);
  expect(first.hasWaited).toBe(true);
  expect(Object.keys(first.fields)).toHaveLength(values.length);
  expect(await names(engine)).toEqual({ ...first, hasWaited: false });
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

test.each([
  ['the measurement', undefined],
  ['its series with a tag', { kind: 'tag', key: 'u', operator: '!=', value: '' } as const],
])('names that came back after a delete of %s are seen', async (_, where) => {
  const directory = mkdtempSync(join(tmpdir(), 'schema-cache-'));
  let engine = await openStorage({ directory });
  await write(engine, 'm,t=a,u=b f=1 1\nother f=1 1\n');
  if (where !== undefined) await write(engine, 'm,t=b f=1 1\n');
  await engine.delete({ database: 'db', measurements: ['m'], where });
  // Opened again, fields and keys of the dead series may be known still.
  await engine.close();
  engine = await openStorage({ directory });
  const rest =
    where === undefined ? { fields: {}, tags: [] } : { fields: { f: 'float' }, tags: ['t'] };
  expect(await names(engine)).toMatchObject(rest);

  await write(engine, 'm,t=a,u=b f=1 1\n');
  expect(await names(engine)).toMatchObject({ fields: { f: 'float' }, tags: ['t', 'u'] });
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});
