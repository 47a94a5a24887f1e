// Limits of the storage engine as a whole; limits of single requests come with the request. Those
// with a `setting` are its default.
import type { Limit, SettingLimit } from '@tidemark/core';
import { DEFAULT_QUERY_LIMITS } from '@tidemark/query';

export const LIMITS = {
  walBytes: {
    setting: 'data.wal-max-size',
    value: 48 << 20,
    unit: 'bytes',
    reason: 'replaying this much log at the next start takes less than half a second',
  },
  memtableBytes: {
    setting: 'data.memtable-max-size',
    value: 32 << 20,
    unit: 'bytes',
    reason:
      'flushing this much takes a few hundred milliseconds and two of them fit the memory target',
  },
  queuedWriteBytes: {
    setting: 'data.write-queue-max-size',
    value: 64 << 20,
    unit: 'bytes',
    reason: 'bodies that wait for the log; beyond it writes are refused as unavailable',
  },
  snapshotAgeMs: {
    value: 15 * 60_000,
    unit: 'ms',
    reason: 'a forgotten snapshot must not hold back deleted files for ever',
  },
  openSnapshots: {
    value: 10_000,
    unit: 'count',
    reason: 'each pins memory and files',
  },
  requestMemoryBytes: {
    setting: 'coordinator.query-memory-limit',
    value: DEFAULT_QUERY_LIMITS.maxQueryMemoryBytes,
    unit: 'bytes',
    reason: 'what one aggregation may hold when its caller sets no limit',
  },
  reserveBytes: {
    setting: 'data.reserve-size',
    value: 8 << 20,
    unit: 'bytes',
    reason: 'records of deletes and drops and two manifests fit, with very many series too',
  },
  columnCacheBytes: {
    setting: 'data.column-cache-size',
    value: 32 << 20,
    unit: 'bytes',
    reason:
      'decoded columns of the chunks that dashboards ask for again and again; 1-2 bytes per value',
  },
  requestLinearBytes: {
    value: 32 << 20,
    unit: 'bytes',
    reason:
      'linear memory that stays besides the cache of columns; making it again costs less than a request that needs more',
  },
  indexCacheBytes: {
    setting: 'data.index-cache-size',
    value: 32 << 20,
    unit: 'bytes',
    reason:
      'postings of the tag keys that conditions ask for; a million series take 1-11 MiB per key',
  },
  deletedSeries: {
    value: 10_000,
    unit: 'count',
    reason:
      'deleted series take a megabyte in the index before it is made anew without them (and half as many as the others)',
  },
  closingFlushMs: {
    value: 4_000,
    unit: 'ms',
    reason:
      'rows in memory are flushed within this time of a stop, which has nine seconds; what is left is in the log',
  },
  keptPlans: {
    value: 512,
    unit: 'count',
    reason: 'plans of queries that come again with other times: some kilobytes each, 40 at most',
  },
  heapGrowthBytes: {
    value: 48 << 20,
    unit: 'bytes',
    reason:
      'texts that were read and sent and are not collected yet; a collection takes some 15 ms of the thread',
  },
  queryThreads: {
    setting: 'data.query-threads',
    value: 0,
    unit: 'count',
    reason: 'with two processors, of which the client has a part, a reader makes nothing faster',
  },
  readerRows: {
    value: 64_000,
    unit: 'count',
    reason: 'an estimate of the rows that take as long as waking another thread and its answer',
  },
  readerIdleMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'dashboards ask again within a minute, mostly; a thread without queries takes memory',
  },
  sliceMs: {
    value: 3,
    unit: 'ms',
    reason:
      'what writes, queries and background work may take together before the next one gets its turn',
  },
} as const satisfies Record<string, Limit | SettingLimit>;
