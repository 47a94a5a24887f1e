// Limits of messages and of the data that the coordinator keeps.
import type { Limit } from '@tidemark/core';

/** Overhead of a message: its subject and headers. */
export const MESSAGE_FRAME_BYTES = 4096;

export const LIMITS = {
  requestMs: {
    value: 2000,
    unit: 'ms',
    reason: 'until a request to the coordinator counts as unanswered and is repeated',
  },
  silentMs: {
    value: 10_000,
    unit: 'ms',
    reason: 'until a coordinator that does not send its records counts as unreachable',
  },
  instances: {
    value: 9,
    unit: 'count',
    reason: 'of a local cluster; more do not fit one machine',
  },
} as const satisfies Readonly<Record<string, Limit>>;
