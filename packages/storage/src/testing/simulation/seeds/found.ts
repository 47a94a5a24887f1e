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
];
