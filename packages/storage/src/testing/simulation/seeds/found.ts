// Plans that failed once, made smaller. They run with the other seeds.
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
        { kind: 'fail-sync' },
        { kind: 'fail-sync' },
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
];
