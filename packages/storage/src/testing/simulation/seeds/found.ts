// Plans that once failed, shrunk. They run together with the other seeds.
import type { Plan } from '../workload/operations.ts';

/** A plan, and what was wrong. */
export type Found = { readonly what: string; readonly plan: Plan };

export const FOUND: readonly Found[] = [
  {
    what: 'the list named a log file that could not be begun and was removed',
    plan: {
      seed: 1339,
      setup: { fsync: 'always', hasBackgroundWork: true, hasParts: false, concurrency: 4 },
      operations: [
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=z', 5]] },
        { kind: 'fail-sync', of: 'files', count: 2 },
      ],
    },
  },
  {
    what: 'a damaged last record of a file that was just finished looked like a torn write',
    plan: {
      seed: 1000961,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=y', 3],
            ['m', 't=y', 0],
            ['n', 't=x', 11],
          ],
        },
        { kind: 'flush' },
        { kind: 'kill' },
      ],
    },
  },
  {
    what: 'a flush removed segments that the manifest named, of a shard that was being dropped',
    plan: {
      seed: 4112,
      setup: { fsync: 'always', hasBackgroundWork: true, hasParts: false, concurrency: 3 },
      operations: [
        { kind: 'close' },
        { kind: 'drop-measurement', database: 'a', measurement: 'n' },
        {
          kind: 'write',
          database: 'b',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=y', 11],
            ['m', 't=y', 9],
            ['m', 't=y', 8],
          ],
        },
        { kind: 'write', database: 'a', retentionPolicy: 'q', lines: [['n', 't=z', 4]] },
        { kind: 'query', database: 'a', retentionPolicy: 'q', measurement: 'm', how: 'answer' },
        { kind: 'compact' },
        { kind: 'compact' },
        { kind: 'delete', database: 'a', retentionPolicy: 'q', measurement: 'n', times: [11, 11] },
        {
          kind: 'write',
          database: 'b',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=y', 1],
            ['n', 't=z', 7],
            ['n', 't=y', 5],
            ['n', 't=z', 4],
          ],
        },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=x', 7],
            ['n', 't=x', 4],
          ],
        },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=y', 3],
            ['m', 't=x', 0],
            ['m', 't=y', 7],
            ['n', 't=x', 1],
          ],
        },
        { kind: 'query', database: 'a', retentionPolicy: 'p', measurement: 'm', how: 'answer' },
        { kind: 'query', database: 'a', retentionPolicy: 'p', measurement: 'n', how: 'scan' },
        { kind: 'kill' },
        { kind: 'drop-measurement', database: 'a', measurement: 'm' },
        { kind: 'delete', database: 'a', measurement: 'm' },
        { kind: 'flush' },
        { kind: 'kill' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=z', 8],
            ['m', 't=z', 5],
          ],
        },
        { kind: 'delete', database: 'a', retentionPolicy: 'p', measurement: 'n', tag: 't=y' },
        {
          kind: 'write',
          database: 'b',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=x', 9],
            ['m', 't=x', 8],
            ['n', 't=y', 9],
          ],
        },
        { kind: 'drop-policy', database: 'a', retentionPolicy: 'p' },
        { kind: 'flush' },
        { kind: 'delete', database: 'b', tag: 't=x' },
        { kind: 'power-cut' },
      ],
    },
  },
  {
    what: 'a log that was closed twice at once listed a file that never was',
    plan: {
      seed: 9354,
      setup: { fsync: 'interval', hasBackgroundWork: true, hasParts: false, concurrency: 5 },
      operations: [
        { kind: 'flush' },
        { kind: 'delete', database: 'a', measurement: 'n', tag: 't=z' },
        { kind: 'delete', database: 'a', tag: 't=y' },
        { kind: 'query', database: 'a', retentionPolicy: 'p', measurement: 'm', how: 'scan' },
        {
          kind: 'write',
          database: 'b',
          retentionPolicy: 'q',
          lines: [
            ['n', 't=x', 9],
            ['m', 't=y', 6],
            ['m', 't=z', 6],
            ['n', 't=z', 6],
          ],
        },
        { kind: 'backup' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=x', 10],
            ['m', 't=y', 8],
            ['m', 't=y', 10],
          ],
        },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=z', 11],
            ['m', 't=x', 11],
          ],
        },
        { kind: 'write', database: 'b', retentionPolicy: 'p', lines: [['n', 't=y', 0]] },
        { kind: 'close' },
        { kind: 'drop-measurement', database: 'a', measurement: 'n' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=z', 7],
            ['m', 't=y', 2],
          ],
        },
        { kind: 'backup' },
        { kind: 'drop-measurement', database: 'a', measurement: 'm' },
        { kind: 'backup' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=y', 9],
            ['m', 't=z', 8],
            ['m', 't=x', 4],
          ],
        },
        { kind: 'close' },
      ],
    },
  },
  {
    what: 'a flush with a rebuilt index removed the index of a database that the manifest named',
    plan: {
      seed: 2010590,
      setup: { fsync: 'always', hasBackgroundWork: true, hasParts: false, concurrency: 3 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=z', 11],
            ['m', 't=x', 1],
            ['m', 't=x', 3],
          ],
        },
        { kind: 'delete', database: 'a', tag: 't=x' },
        { kind: 'compact' },
        { kind: 'backup' },
        { kind: 'drop-database', database: 'b' },
        { kind: 'restore' },
        { kind: 'write', database: 'b', retentionPolicy: 'q', lines: [['n', 't=x', 6]] },
        { kind: 'restore' },
        { kind: 'drop-policy', database: 'a', retentionPolicy: 'q' },
        { kind: 'flush' },
        { kind: 'delete', database: 'a', measurement: 'm', tag: 't=x', times: [4, 10] },
        { kind: 'drop-policy', database: 'b', retentionPolicy: 'p' },
        { kind: 'drop-policy', database: 'a', retentionPolicy: 'p' },
        { kind: 'kill' },
      ],
    },
  },
  {
    what: 'an index file whose first sync failed had no durable name afterwards',
    plan: {
      seed: 13475,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 4 },
      operations: [
        { kind: 'compact' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=z', 11],
            ['m', 't=z', 2],
            ['n', 't=y', 5],
            ['m', 't=y', 8],
          ],
        },
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=z', 4]] },
        { kind: 'compact' },
        { kind: 'delete', database: 'a', retentionPolicy: 'p', measurement: 'm' },
        { kind: 'delete', database: 'b', measurement: 'n' },
        { kind: 'flush' },
        { kind: 'expire', database: 'a', retentionPolicy: 'q' },
        { kind: 'compact' },
        { kind: 'delete', database: 'a' },
        { kind: 'kill' },
        {
          kind: 'write',
          database: 'b',
          retentionPolicy: 'q',
          lines: [
            ['n', 't=z', 7],
            ['n', 't=z', 2],
          ],
        },
        { kind: 'flush' },
        { kind: 'fail-sync', of: 'files', count: 1 },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=y', 1],
            ['m', 't=z', 8],
            ['n', 't=y', 2],
            ['n', 't=x', 11],
          ],
        },
        { kind: 'query', database: 'a', retentionPolicy: 'p', measurement: 'n', how: 'answer' },
        { kind: 'flush' },
        { kind: 'flush' },
        { kind: 'power-cut' },
      ],
    },
  },
  {
    what: 'a list of log files whose name was never synced was missed after a power cut',
    plan: {
      seed: 1040721,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: true, concurrency: 2 },
      operations: [
        { kind: 'fail-sync', of: 'folders', count: 3 },
        { kind: 'close' },
        { kind: 'flush' },
        { kind: 'power-cut' },
      ],
    },
  },
  {
    what: 'a start took for durable what a failed sync had left in the page cache',
    plan: {
      seed: 5007592,
      setup: { fsync: 'always', hasBackgroundWork: true, hasParts: false, concurrency: 4 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=x', 7],
            ['m', 't=x', 11],
          ],
        },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=z', 7],
            ['n', 't=y', 3],
          ],
        },
        { kind: 'fail-sync', of: 'files', count: 4 },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=z', 10],
            ['n', 't=z', 3],
            ['m', 't=y', 7],
          ],
        },
        { kind: 'kill' },
        { kind: 'delete', database: 'a', tag: 't=x', times: [5, 5] },
        { kind: 'compact' },
        { kind: 'power-cut' },
      ],
    },
  },
  {
    what: 'a shard of a refused write kept its database at a drop, and a start let its rows go',
    plan: {
      seed: 6975,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        { kind: 'flush' },
        { kind: 'write', database: 'a', retentionPolicy: 'q', lines: [['n', 't=z', 3]] },
        { kind: 'query', database: 'a', retentionPolicy: 'q', measurement: 'm', how: 'scan' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['n', 't=x', 8],
            ['m', 't=z', 0],
          ],
        },
        { kind: 'fail-sync', of: 'files', count: 2 },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=x', 10],
            ['n', 't=z', 8],
            ['n', 't=y', 10],
            ['m', 't=y', 7],
          ],
        },
        { kind: 'compact' },
        { kind: 'wait' },
        { kind: 'write', database: 'b', retentionPolicy: 'p', lines: [['n', 't=y', 2]] },
        { kind: 'fail-sync', of: 'files', count: 2 },
        { kind: 'drop-policy', database: 'a', retentionPolicy: 'q' },
        { kind: 'compact' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=y', 1],
            ['m', 't=z', 10],
            ['m', 't=z', 8],
            ['n', 't=x', 2],
          ],
        },
        { kind: 'compact' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=z', 0],
            ['m', 't=x', 11],
            ['m', 't=x', 11],
          ],
        },
        { kind: 'power-cut' },
      ],
    },
  },
  {
    what: 'two log files that were not begun, and no list, looked like a damaged log',
    plan: {
      seed: 4009442,
      setup: { fsync: 'always', hasBackgroundWork: true, hasParts: true, concurrency: 3 },
      operations: [
        { kind: 'fail-sync', of: 'folders', count: 3 },
        { kind: 'backup' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=y', 1],
            ['m', 't=x', 9],
          ],
        },
        { kind: 'flush' },
        { kind: 'power-cut' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=y', 11],
            ['m', 't=z', 4],
          ],
        },
        { kind: 'power-cut' },
      ],
    },
  },
  {
    what: 'a manifest was ahead of the log, whose sync was delayed',
    plan: {
      seed: 4069664,
      setup: { fsync: 'interval', hasBackgroundWork: true, hasParts: true, concurrency: 3 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=z', 9],
            ['n', 't=y', 0],
            ['m', 't=x', 2],
          ],
        },
        { kind: 'backup' },
        { kind: 'delete', database: 'a', times: [10, 10] },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=y', 9],
            ['m', 't=x', 11],
          ],
        },
        { kind: 'drop-policy', database: 'a', retentionPolicy: 'q' },
        { kind: 'expire', database: 'a', retentionPolicy: 'p' },
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['n', 't=z', 9]] },
        { kind: 'power-cut' },
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=x', 0]] },
        { kind: 'delete', database: 'a', retentionPolicy: 'q', tag: 't=z' },
      ],
    },
  },
  {
    what: 'a manifest named a restored database and the empty one that it replaced',
    plan: {
      seed: 387492,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: true, concurrency: 4 },
      operations: [
        { kind: 'power-cut' },
        { kind: 'backup' },
        { kind: 'flush' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=x', 5],
            ['m', 't=z', 11],
            ['m', 't=x', 9],
          ],
        },
        { kind: 'backup' },
        { kind: 'restore' },
        { kind: 'drop-database', database: 'a' },
        { kind: 'drop-database', database: 'r' },
        { kind: 'flush' },
        { kind: 'restore' },
      ],
    },
  },
  {
    what: 'a checkpoint lacked a series whose delete was lost with a power cut',
    plan: {
      seed: 2388251,
      setup: { fsync: 'interval', hasBackgroundWork: false, hasParts: false, concurrency: 3 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['n', 't=x', 7],
            ['n', 't=y', 2],
          ],
        },
        { kind: 'write', database: 'b', retentionPolicy: 'p', lines: [['m', 't=x', 2]] },
        {
          kind: 'write',
          database: 'b',
          retentionPolicy: 'p',
          lines: [
            ['n', 't=x', 0],
            ['m', 't=z', 1],
            ['n', 't=z', 7],
          ],
        },
        { kind: 'flush' },
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'q',
          lines: [
            ['m', 't=x', 8],
            ['m', 't=x', 7],
          ],
        },
        { kind: 'drop-measurement', database: 'b', measurement: 'm' },
        { kind: 'expire', database: 'a', retentionPolicy: 'p' },
        { kind: 'power-cut' },
        {
          kind: 'write',
          database: 'b',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=z', 8],
            ['m', 't=y', 7],
            ['m', 't=x', 8],
          ],
        },
      ],
    },
  },
];
