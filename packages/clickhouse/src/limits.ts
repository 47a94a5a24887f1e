// Limits of this package: name, default, unit and reason.
import type { Limit } from '@tidemark/core';

export const LIMITS = {
  clusterNodes: {
    value: 32,
    unit: 'count',
    reason: 'of a cluster on one machine; each takes some 100 MiB',
  },
  probeMs: {
    value: 5000,
    unit: 'ms',
    reason: 'until a process of a local cluster says that it is there',
  },
  requestMs: {
    value: 3_600_000,
    unit: 'ms',
    reason: 'until a server that answers pings has answered a statement; queries end earlier',
  },
  pingAfterMs: {
    value: 1000,
    unit: 'ms',
    reason: 'between probes of a server that is waited for: most statements take less',
  },
  probeAgainMs: {
    value: 200,
    unit: 'ms',
    reason: 'until a server that cannot take a write is asked again, within one probe',
  },
  connections: { value: 32, unit: 'count', reason: 'to one ClickHouse process at once' },
  idleConnectionMs: {
    value: 1000,
    unit: 'ms',
    reason: 'until a connection is closed here; servers close it after 3000, unannounced',
  },
  insertMs: {
    value: 8000,
    unit: 'ms',
    reason: 'in which an insert is tried again; shorter than coordinator.write-timeout',
  },
  lastTryMs: {
    value: 1000,
    unit: 'ms',
    reason: 'that an insert has at least, however long its requests have waited for the one before',
  },
  askAgainMs: {
    value: 2000,
    unit: 'ms',
    reason: 'until a replica that did not answer at the start is asked again',
  },
  batchMs: {
    value: 50,
    unit: 'ms',
    reason: 'from one insert into a table to the next: each makes a part that has to be merged',
  },
  gatherMs: {
    value: 250,
    unit: 'ms',
    reason: 'from the end of an insert, in which the next one waits for those who were answered',
  },
  batchBytes: {
    value: 8 << 20,
    unit: 'bytes',
    reason: 'of rows that are inserted at once: with more of them, a row costs hardly less',
  },
  followMs: {
    value: 300,
    unit: 'ms',
    reason: 'between looks at what other front ends have changed; a second is promised',
  },
  leaseMs: {
    value: 10_000,
    unit: 'ms',
    reason: 'without a sign of life, after which another front end does what only one may',
  },
  beatMs: {
    value: 2000,
    unit: 'ms',
    reason: 'between signs of life: two of them may fail before the lease is given up',
  },
  expireMs: {
    value: 250,
    unit: 'ms',
    reason: 'between looks at whether the lease is still held',
  },
  sweepMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'between looks for rows that deletes and drops have left',
  },
  deleteKeptMs: {
    value: 600_000,
    unit: 'ms',
    reason: 'that a delete goes on hiding rows after they are removed: a server may have hung',
  },
  pendingDeletes: {
    value: 1000,
    unit: 'count',
    reason: 'deletes whose rows are not removed yet: each is a condition of every read',
  },
  alterMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'until a replica has changed a table, which nobody waits for',
  },
  adoptMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'until all servers have removed the entries of a list that was put back from a backup',
  },
  graceMs: {
    value: 500,
    unit: 'ms',
    reason: 'that an insert is given to end by itself when its time is over',
  },
  seriesCountMs: {
    value: 10_000,
    unit: 'ms',
    reason: 'after which the series of a database are read again, where they are limited',
  },
  pageRows: {
    value: 200_000,
    unit: 'rows',
    reason: 'of one answer of the cluster, which is held at once: some 8 MB',
  },
  pageSeries: {
    value: 5000,
    unit: 'count',
    reason: 'series that one statement names: some 100 kB of text',
  },
} as const satisfies Readonly<Record<string, Limit>>;
