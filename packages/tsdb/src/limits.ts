// Limits of the service that are not settings: name, value, unit, reason.
import type { Limit } from '@tidemark/core';

export const LIMITS = {
  cachedLogins: {
    value: 10_000,
    unit: 'count',
    reason: 'a right password is remembered as a digest; beyond this many users all are forgotten',
  },
  pingWaitMs: {
    value: 5000,
    unit: 'ms',
    reason: 'a ping waits for a service that reads its log; most logs are read by then',
  },
  concurrentBackups: {
    value: 2,
    unit: 'count',
    reason: 'each reads everything once and holds back files that compaction has replaced',
  },
  backupIdleMs: {
    value: 5 * 60_000,
    unit: 'ms',
    reason: 'a client that does not read for so long has gone',
  },
  restoreIdleMs: {
    value: 5 * 60_000,
    unit: 'ms',
    reason: 'a client that brings nothing for so long has gone; what it brought is removed',
  },
  rejectedEntries: {
    value: 1000,
    unit: 'count',
    reason: 'refused lines that /debug/rejected shows; the oldest goes first',
  },
  rejectedTextCharacters: {
    value: 500,
    unit: 'bytes',
    reason: 'a line may be megabytes long; the log is for reading',
  },
  rejectedSources: {
    value: 10_000,
    unit: 'count',
    reason: 'sources whose refused lines are counted; further ones are counted together',
  },
  slowQueries: {
    value: 100,
    unit: 'count',
    reason: 'queries that /debug/slow-queries shows; the oldest goes first',
  },
  slowQueryCharacters: {
    value: 4000,
    unit: 'count',
    reason: 'a query may be megabytes long; the list is for reading',
  },
  remoteWritePoints: {
    value: 10_000,
    unit: 'count',
    reason: 'points of a remote write that are decoded and written at once: a few megabytes',
  },
  multipartParts: {
    value: 100,
    unit: 'count',
    reason: 'forms of this interface have three; thousands of tiny parts are an attack',
  },
  headersMs: {
    value: 20_000,
    unit: 'ms',
    reason: 'slow clients are cut off: headers must be complete by then',
  },
  connectionCheckMs: {
    value: 5_000,
    unit: 'ms',
    reason:
      'how often connections over their time are looked for; a slow client lasts this much longer',
  },
  keepAliveMs: {
    value: 75_000,
    unit: 'ms',
    reason: 'longer than the idle time of usual proxies and clients',
  },
  headerBytes: {
    value: 1024 * 1024,
    unit: 'bytes',
    reason: 'GET requests carry whole queries in the URL',
  },
  profileSeconds: {
    value: 300,
    unit: 'count',
    reason: 'samples are held in memory',
  },
  watchSeconds: {
    value: 6 * 3600,
    unit: 'count',
    reason: 'what clients of /debug/requests know as the maximum',
  },
  continuousRunWindows: {
    value: 500,
    unit: 'count',
    reason:
      'a run over a past range is cut into steps: each is one query, says how far it is, and may be ended',
  },
  deliveryBytes: {
    value: 1024 * 1024,
    unit: 'bytes',
    reason: 'a backlog is sent in large requests; one per batch would never catch up',
  },
  datagramBytes: {
    value: 1400,
    unit: 'bytes',
    reason: 'passes most networks unbroken; a line that is longer goes alone',
  },
  packedBytesMin: {
    value: 1024,
    unit: 'bytes',
    reason: 'a shorter answer fits into one packet as it is; packing it costs more than it saves',
  },
  subscriberDrainMs: {
    value: 1000,
    unit: 'ms',
    reason: 'receivers that are gone must not hold up a stop',
  },
  drainMs: {
    value: 3000,
    unit: 'ms',
    reason: 'requests may end by themselves; then queries are ended',
  },
  cutMs: {
    value: 2000,
    unit: 'ms',
    reason: 'ended queries say so; then connections are cut off',
  },
} as const satisfies Record<string, Limit>;
