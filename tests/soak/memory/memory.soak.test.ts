// A third of `npm run soak:memory`, with smaller queries: enough to need two gigabytes without
// budgets.
import { expect, test } from 'vitest';

import { soakMemory } from './memory.ts';
import { soakTexts } from './texts-soak.ts';

test(
  'stalled bodies, large queries and strangers together stay below a gibibyte of resident memory',
  { timeout: 240_000 },
  async () => {
    const { tsdbPeakBytes, enginePeakBytes, answered, refused, problems } = await soakMemory({
      values: 600_000,
      queries: 8,
      stalledBodies: 24,
      strangers: 12,
    });

    expect(problems).toEqual([]);
    expect(answered + refused).toBe(8);
    expect(answered).toBeGreaterThan(0);
    expect(tsdbPeakBytes).toBeLessThan(1 << 30);
    expect(enginePeakBytes).toBeLessThan(256 << 20);
  },
);

test.each([
  ['standard', [32_000]],
  ['small', [32_000]],
] as const)(
  'texts and tags in every kind of statement stay below a gibibyte, too, with profile %s',
  { timeout: 600_000 },
  async (profile, lengths) => {
    const { peakMiB, answered, problems } = await soakTexts({
      profiles: [profile],
      lengths,
      totalBytes: 3_000_000,
      clients: [4],
      ceilingBytes: 1 << 30,
    });

    expect(problems).toEqual([]);
    expect(answered).toBeGreaterThan(50);
    expect(peakMiB).toBeGreaterThan(100);
  },
);
