// Limits of this package: name, default, unit and reason.
import type { Limit } from '@tidemark/core';

export const LIMITS = {
  startMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'until every process of a local cluster answers; a loaded machine takes ten of them',
  },
  stopMs: {
    value: 20_000,
    unit: 'ms',
    reason: 'until a process of a local cluster has ended by itself; then it is killed',
  },
} as const satisfies Readonly<Record<string, Limit>>;
