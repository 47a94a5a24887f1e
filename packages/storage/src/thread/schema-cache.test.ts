import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NANOS_PER_WEEK } from '@tidemark/core';
import type { SchemaBatch, SchemaRequest } from '@tidemark/query';
import { expect, test } from 'vitest';

import type { StorageEngine } from '../storage-engine.ts';
import { schemaBatches, write } from '../testing/fixtures.ts';
import { openStorage } from './open-storage.ts';
import { SchemaCache } from './schema-cache.ts';

const KEYS: SchemaRequest = { kind: 'tag-keys', filter: { database: 'db' } };
const ANSWER: readonly SchemaBatch[] = [{ kind: 'tag-keys', measurement: 'm', keys: ['t'] }];

const fieldsIn = (start: bigint, end: bigint): SchemaRequest => ({
  kind: 'fields',
  filter: { database: 'db', timeRange: { start, end } },
});

test('an answer is kept until the version changes', () => {
  const cache = new SchemaCache();
  cache.set(KEYS, ANSWER, { version: 1 });

  expect(cache.get(KEYS, 1)).toBe(ANSWER);
  expect(cache.get({ ...KEYS, filter: { database: 'other' } }, 1)).toBeUndefined();
  expect(cache.get(KEYS, 2)).toBeUndefined();
  expect(cache.get(KEYS, 1)).toBeUndefined();
});

test('time ranges over the same shards share an answer, others do not', () => {
  const cache = new SchemaCache();
  const shards = [
    { retentionPolicy: 'autogen', start: 0n, end: 10n },
    { retentionPolicy: 'autogen', start: 10n, end: 20n },
  ];
  expect(cache.lacksShards(fieldsIn(1n, 2n))).toBe(true);
  cache.set(fieldsIn(1n, 2n), ANSWER, { version: 1, shards });

  expect(cache.lacksShards(fieldsIn(1n, 2n))).toBe(false);
  expect(cache.get(fieldsIn(3n, 9n), 1)).toBe(ANSWER);
  expect(cache.get(fieldsIn(3n, 10n), 1)).toBeUndefined();
  expect(cache.get(fieldsIn(10n, 19n), 1)).toBeUndefined();
});

test('a range of unknown shards is not kept', () => {
  const cache = new SchemaCache();
  cache.set(fieldsIn(1n, 2n), ANSWER, { version: 1 });

  expect(cache.get(fieldsIn(1n, 2n), 1)).toBeUndefined();
});

test('answers that are used least make room', () => {
  const cache = new SchemaCache();
  const large = (name: string): readonly SchemaBatch[] => [
    {
      kind: 'series',
      measurement: 'm',
      keys: Array.from({ length: 100 }, () => name.padEnd(4000)),
    },
  ];
  const request = (database: string): SchemaRequest => ({ kind: 'series', filter: { database } });
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    cache.set(request(name), large(name), { version: 1 });
    cache.get(request('a'), 1);
  }
  cache.set(request('f'), large('f'), { version: 1 });

  expect(cache.get(request('a'), 1)).toBeDefined();
  expect(cache.get(request('b'), 1)).toBeUndefined();
  expect(cache.get(request('f'), 1)).toBeDefined();
});

/** Asked twice, so that the second answer may be a kept one. */
async function twice(engine: StorageEngine, request: SchemaRequest): Promise<SchemaBatch[]> {
  const first = await schemaBatches(engine, request);
  expect(await schemaBatches(engine, request)).toEqual(first);
  return first;
}

test('what a write, a delete or a drop changes is seen by the next look-up', async () => {
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
