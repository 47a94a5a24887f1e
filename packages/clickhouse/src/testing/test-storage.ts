// What tests of the storage have in common: its settings, and policies.
import { systemClock } from '@tidemark/core';
import type { PolicyRef, StorageEngine, WriteOutcome } from '@tidemark/storage';

import type { ClickHouseOptions } from '../open-clickhouse.ts';

export const WEEK = 604_800_000_000_000n;

/** Everything but where the cluster is. */
export const TEST_SETTINGS = {
  database: 'tidemark',
  cluster: 'tidemark',
  givesPartialAnswers: false,
  readTimeoutMs: 0,
  pingTimeoutMs: 4000,
  ingest: { allowUnsigned: true, fieldTypes: 'shard', maxShards: 0, maxBadLines: 0 },
  writeQueueMaxBytes: 1 << 26,
  writeTimeoutMs: 10_000,
  clock: systemClock(),
  log: () => undefined,
} as const satisfies Omit<ClickHouseOptions, 'urls'>;

/** A policy with a database of its own, which holds as many series as it likes. */
export function testPolicy(id: number): PolicyRef {
  return {
    id,
    database: `d${id}`,
    retentionPolicy: 'autogen',
    shardDurationNanos: WEEK,
    maxSeriesPerDatabase: 0,
    maxValuesPerTag: 0,
  };
}

/** Writes lines with times in nanoseconds. */
export function writeLines(
  storage: StorageEngine,
  policy: PolicyRef,
  lines: readonly string[],
): Promise<WriteOutcome> {
  return storage.writeLines({
    policy,
    body: Buffer.from(lines.join('\n')),
    precision: 'ns',
    now: 0n,
  });
}
