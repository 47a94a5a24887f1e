// Plans that run together with the other seeds: those that once failed, and those that fail in some
// order when a guard is taken out that random plans meet too rarely.
import { FOUND_AT_STARTS } from './found-at-starts.ts';
import { FOUND } from './found.ts';
import type { Found } from './found.ts';

const WITHOUT_A_GUARD: readonly Found[] = [
  {
    what: 'a drop went on behind the end',
    plan: {
      seed: 1,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=x', 0],
            ['n', 't=y', 1],
          ],
        },
        { kind: 'wait' },
        { kind: 'flush' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'drop-policy', database: 'a', retentionPolicy: 'p' },
        { kind: 'close' },
      ],
    },
  },
  {
    what: 'a restore went on behind the end',
    plan: {
      seed: 1,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=x', 0],
            ['n', 't=y', 1],
          ],
        },
        { kind: 'wait' },
        { kind: 'backup' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'restore' },
        { kind: 'close' },
      ],
    },
  },
  {
    what: 'a rebuild went on behind the end',
    plan: {
      seed: 1,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=x', 0],
            ['n', 't=y', 1],
          ],
        },
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=y', 2]] },
        { kind: 'wait' },
        { kind: 'flush' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'delete', database: 'a', measurement: 'm', tag: 't=x' },
        { kind: 'wait' },
        { kind: 'compact' },
        { kind: 'close' },
      ],
    },
  },
  {
    what: 'what a failed sync of the log took was not written again',
    plan: {
      seed: 1,
      setup: { fsync: 'interval', hasBackgroundWork: true, hasParts: false, concurrency: 2 },
      operations: [
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=x', 0]] },
        { kind: 'wait' },
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=y', 1]] },
        { kind: 'fail-sync', of: 'files', count: 1 },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'power-cut' },
      ],
    },
  },
  {
    what: 'a backup had rows of a policy whose drop was owed',
    plan: {
      seed: 1,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=x', 0]] },
        { kind: 'write', database: 'a', retentionPolicy: 'q', lines: [['m', 't=y', 1]] },
        { kind: 'wait' },
        { kind: 'flush' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'fail-sync', of: 'files', count: 2 },
        { kind: 'drop-policy', database: 'a', retentionPolicy: 'p' },
        { kind: 'wait' },
        { kind: 'backup' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'restore' },
      ],
    },
  },
  {
    what: 'a compaction dropped the tombstone of rows that a flush was writing',
    plan: {
      seed: 1,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=x', 0]] },
        { kind: 'flush' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=y', 1]] },
        { kind: 'flush' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'write', database: 'b', retentionPolicy: 'q', lines: [['n', 't=z', 8]] },
        { kind: 'write', database: 'b', retentionPolicy: 'p', lines: [['n', 't=z', 8]] },
        { kind: 'write', database: 'a', retentionPolicy: 'q', lines: [['n', 't=z', 8]] },
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=x', 2]] },
        { kind: 'wait' },
        { kind: 'flush' },
        { kind: 'delete', database: 'a', measurement: 'm', times: [2, 2] },
        { kind: 'compact' },
      ],
    },
  },
  {
    what: 'a drop of a measurement left rows that a flush was writing',
    plan: {
      seed: 23,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 5 },
      operations: [
        {
          kind: 'write',
          database: 'a',
          retentionPolicy: 'p',
          lines: [
            ['m', 't=x', 0],
            ['m', 't=y', 8],
          ],
        },
        { kind: 'flush' },
        { kind: 'query', database: 'a', retentionPolicy: 'p', measurement: 'm', how: 'scan' },
        { kind: 'drop-measurement', database: 'a', measurement: 'm' },
        { kind: 'query', database: 'a', retentionPolicy: 'p', measurement: 'm', how: 'scan' },
      ],
    },
  },
  {
    what: 'rows of a dropped database came back under the one that was restored under its name',
    plan: {
      seed: 1,
      setup: { fsync: 'always', hasBackgroundWork: false, hasParts: false, concurrency: 2 },
      operations: [
        { kind: 'write', database: 'a', retentionPolicy: 'p', lines: [['m', 't=x', 0]] },
        { kind: 'wait' },
        { kind: 'backup' },
        ...Array.from({ length: 6 }, () => ({ kind: 'wait' }) as const),
        { kind: 'restore' },
        ...Array.from({ length: 6 }, () => ({ kind: 'wait' }) as const),
        { kind: 'backup' },
        ...Array.from({ length: 6 }, () => ({ kind: 'wait' }) as const),
        { kind: 'write', database: 'r', retentionPolicy: 'p', lines: [['n', 't=z', 1]] },
        { kind: 'wait' },
        { kind: 'drop-database', database: 'r' },
        { kind: 'wait' },
        { kind: 'wait' },
        { kind: 'restore' },
        ...Array.from({ length: 4 }, () => ({ kind: 'wait' }) as const),
        { kind: 'kill' },
      ],
    },
  },
];

export const PLANS: readonly Found[] = [...FOUND, ...FOUND_AT_STARTS, ...WITHOUT_A_GUARD];
