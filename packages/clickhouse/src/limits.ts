// Limits of this package: name, default, unit and reason.
import type { Limit } from '@tidemark/core';

export const LIMITS = {
  clusterNodes: {
    value: 32,
    unit: 'count',
    reason: 'processes of a local cluster; each takes about 100 MiB',
  },
  probeMs: {
    value: 5000,
    unit: 'ms',
    reason: 'until a process of a local cluster has answered',
  },
  requestMs: {
    value: 3_600_000,
    unit: 'ms',
    reason: 'for a statement while its server answers pings; queries end earlier',
  },
  pingAfterMs: {
    value: 1000,
    unit: 'ms',
    reason: 'until a server is probed while a statement runs; most statements take less',
  },
  probeAgainMs: {
    value: 200,
    unit: 'ms',
    reason: 'between the questions of one probe to a server that cannot take writes',
  },
  connections: { value: 32, unit: 'count', reason: 'connections to one ClickHouse server' },
  idleConnectionMs: {
    value: 1000,
    unit: 'ms',
    reason: 'until an idle connection is closed; servers close it after 3000 without notice',
  },
  insertMs: {
    value: 8000,
    unit: 'ms',
    reason:
      'for retries of work without a deadline of its own; shorter than coordinator.write-timeout',
  },
  lastTryMs: {
    value: 1000,
    unit: 'ms',
    reason: 'that an insert has at least, however long its requests have waited',
  },
  askAgainMs: {
    value: 2000,
    unit: 'ms',
    reason: 'until a replica that did not answer is asked again, or tried before others again',
  },
  batchMs: {
    value: 50,
    unit: 'ms',
    reason: 'between inserts into a table, because each makes a part that has to be merged',
  },
  gatherMs: {
    value: 250,
    unit: 'ms',
    reason: 'for which an insert waits at most for clients that were just answered',
  },
  batchBytes: {
    value: 8 << 20,
    unit: 'bytes',
    reason: 'of rows per insert; larger inserts cost hardly less per row',
  },
  followMs: {
    value: 300,
    unit: 'ms',
    reason: 'between polls for changes of other front ends; the guide promises a second',
  },
  leaseMs: {
    value: 10_000,
    unit: 'ms',
    reason: 'without a heartbeat of the holder, after which another front end takes the lease',
  },
  beatMs: {
    value: 2000,
    unit: 'ms',
    reason: 'between heartbeats; two may fail before the lease is lost',
  },
  expireMs: {
    value: 250,
    unit: 'ms',
    reason: 'between checks of the lease',
  },
  sweepMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'between sweeps for rows of deletes and drops',
  },
  deleteKeptMs: {
    value: 600_000,
    unit: 'ms',
    reason: 'for which a delete hides rows after their removal, because a server may have hung',
  },
  pendingDeletes: {
    value: 1000,
    unit: 'count',
    reason: 'deletes whose rows are not removed yet; each is a condition of reads',
  },
  alterMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'until a replica has altered a table in the background',
  },
  adoptMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'until all servers have removed the entries of a restored shared log',
  },
  graceMs: {
    value: 500,
    unit: 'ms',
    reason: 'between the last statement of a write and its refusal',
  },
  seriesCountMs: {
    value: 10_000,
    unit: 'ms',
    reason: 'after which the series of a database with limits are read again',
  },
  pageRows: {
    value: 200_000,
    unit: 'rows',
    reason: 'of one answer of the cluster, which is held in memory: about 8 MB',
  },
  pageSeries: {
    value: 5000,
    unit: 'count',
    reason: 'series per statement: about 100 kB of text',
  },
} as const satisfies Readonly<Record<string, Limit>>;
