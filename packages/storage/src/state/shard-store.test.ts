import { expect, test } from 'vitest';

import { SchemaVersions } from '../series/schema-version.ts';
import { ShardStore } from './shard-store.ts';

const DESCRIPTOR = {
  id: 1,
  policyId: 1,
  database: 'db',
  retentionPolicy: 'autogen',
  start: 0n,
  end: 10n,
};

const tombstone = (sequence: number) => ({
  sequence,
  measurementId: 0,
  series: undefined,
  timeRange: { start: 0n, end: 1n },
  freesTypes: false,
});

test('only the store changes a shard: what it hands out is read-only by type', () => {
  const shards = new ShardStore(new SchemaVersions());
  const shard = shards.add(DESCRIPTOR);
  const before = shard.tombstones;

  shards.freeze(shard, 7);
  shards.addTombstones(shard, [tombstone(8)]);
  shards.setField(shard, { measurementId: 0, field: 'f' }, 'float');

  expect(shard.frozenSequence).toBe(7);
  expect(shard.tombstones).toEqual([tombstone(8)]);
  expect(shard.fields.get(0, 'f')).toBe('float');
  // A reader that has the list keeps what it has.
  expect(before).toEqual([]);
  // Never called: the compiler refuses each line.
  expect(() => {
    // @ts-expect-error
    shard.segments = [];
    // @ts-expect-error
    shard.isLogged = true;
    // @ts-expect-error
    shard.series.add(1);
    // @ts-expect-error
    shard.fields.set(0, 'f', 'integer');
    // @ts-expect-error
    shard.tombstones.push(tombstone(9));
  }).toBeTypeOf('function');
});

test('a restored shard is visible and kept once it is adopted', () => {
  const shards = new ShardStore(new SchemaVersions());
  const shard = shards.make(DESCRIPTOR, { segments: [], tombstones: [tombstone(1)] });

  expect([shards.get(1), shard.isLogged]).toEqual([undefined, false]);

  shards.adopt(shard);

  expect([shards.get(1), shard.isLogged]).toEqual([shard, true]);
  expect(shards.find(1, 9n)).toBe(shard);
  expect(shards.add({ ...DESCRIPTOR, id: 2, start: 10n, end: 20n }).isLogged).toBe(false);
});
