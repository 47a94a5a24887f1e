// Bounds of listeners.
import type { Limit } from '@tidemark/core';

export const TEXT_LINE_BYTES: Limit = {
  value: 64 * 1024,
  unit: 'bytes',
  reason: 'a longer line of Graphite or OpenTSDB ends its connection',
};

export const LISTENER_IDLE_MS: Limit = {
  value: 600_000,
  unit: 'ms',
  reason: 'connections of listeners that are silent longer are closed',
};

export const PUT_BYTES: Limit = {
  value: 10 * 1024 * 1024,
  unit: 'bytes',
  reason: 'one POST of OpenTSDB, also after it was unpacked; more is 413',
};
