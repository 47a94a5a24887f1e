// Shared by tests of the storage: settings, policies, and helpers for writing and reading.
import { ALL_TIME, systemClock, Unavailable } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import type { PolicyRef, PointStorage, WriteOutcome } from '@tidemark/storage-api';

import type { ClickHouseOptions } from '../open-clickhouse.ts';
import { scanned } from './compare-sources.ts';

export const WEEK = 604_800_000_000_000n;

/** Timeout of a test in which servers come back several times, on a machine with other work. */
export const SLOW_MS = 180_000;

/** How long a cluster may take until it accepts writes again after its servers are back. */
const RECOVERY_MS = SLOW_MS / 3;

/** All settings except the addresses of the cluster. */
export const TEST_SETTINGS = {
  database: 'tidemark',
  cluster: 'tidemark',
  givesPartialAnswers: false,
  readTimeoutMs: 0,
  pingTimeoutMs: 4000,
  ingest: {
    allowUnsigned: true,
    fieldTypes: 'shard',
    maxShards: 0,
    maxBadLines: 0,
    maxTextBytes: 0,
  },
  writeQueueMaxBytes: 1 << 26,
  writeTimeoutMs: 10_000,
  clock: systemClock(),
  log: () => undefined,
} as const satisfies Omit<ClickHouseOptions, 'urls'>;

/** A policy with a database of its own and no limit on series. */
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
  storage: PointStorage,
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

/** The points of field `v` of measurement `m`, as texts `key time value`. */
export function storedRows(
  storage: PointStorage,
  { database, retentionPolicy }: PolicyRef,
  type: FieldType = 'float',
): Promise<readonly string[]> {
  return scanned(storage.source, {
    source: { database, retentionPolicy, measurement: 'm' },
    timeRange: ALL_TIME,
    descending: false,
    groupBy: [],
    fields: [{ name: 'v', type }],
  });
}

/** Retries what may be refused: servers need a while for a new session of ZooKeeper. */
export async function untilAccepted<T>(attempt: () => Promise<T>): Promise<T> {
  const { clock } = TEST_SETTINGS;
  const untilMs = clock.monotonicMs() + RECOVERY_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unavailable) || clock.monotonicMs() > untilMs) throw error;
    }
    await clock.sleep(50);
  }
}

/** Retries a line until its write is acknowledged. */
export function untilWritten(
  storage: PointStorage,
  policy: PolicyRef,
  line: string,
): Promise<WriteOutcome> {
  return untilAccepted(() => writeLines(storage, policy, [line]));
}
