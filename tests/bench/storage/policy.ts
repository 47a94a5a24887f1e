// The policy that benchmarks of storage write into: weekly shards, no limits.
import { NANOS_PER_WEEK } from '@tidemark/core';
import type { PolicyRef } from '@tidemark/storage-api';

export const POLICY: PolicyRef = {
  id: 1,
  database: 'db',
  retentionPolicy: 'autogen',
  shardDurationNanos: NANOS_PER_WEEK,
  maxSeriesPerDatabase: 0,
  maxValuesPerTag: 0,
};
