import { expect, test } from 'vitest';

import type { ShardInfo } from '@tidemark/storage-api';

import { packShards, unpackShards } from './packed-shards.ts';

test('shards come back as they were, those with bounds beyond int64, too', () => {
  const shard: ShardInfo = {
    id: 7,
    policyId: 3,
    database: 'a "b" \u{1f30a}',
    retentionPolicy: 'autogen',
    start: -(2n ** 64n),
    end: 1_700_000_000_000_000_000n,
    shardGroupId: 7,
    diskBytes: 2 ** 45 + 1,
  };
  const shards = [shard, { ...shard, id: 8, start: shard.end, end: 2n ** 70n }];

  expect(unpackShards(packShards(shards))).toEqual(shards);
  expect(unpackShards(packShards([]))).toEqual([]);
});
