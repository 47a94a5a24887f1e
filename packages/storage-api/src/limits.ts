// Limits of one write, which are the defaults of settings.
import type { SettingLimit } from '@tidemark/core';

export const LIMITS = {
  shardsPerWrite: {
    setting: 'data.max-shards-per-write',
    value: 1000,
    unit: 'count',
    reason:
      'each becomes a file when it is flushed; more than two years of days, nineteen of weeks',
  },
  textBytes: {
    setting: 'data.max-text-size',
    value: 64 << 10,
    unit: 'bytes',
    reason: 'what InfluxDB documents; parts of rows that are read at once are larger than one text',
  },
  badLines: {
    setting: 'data.max-bad-lines',
    value: 10_000,
    unit: 'count',
    reason: 'each is parsed a second time for its error: 24 MB of them took ten seconds',
  },
} satisfies Record<string, SettingLimit>;
