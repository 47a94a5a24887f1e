// A third of `npm run soak:memory`, with smaller queries: enough to need two gigabytes without
// budgets.
import { expect, test } from 'vitest';

import { soakMemory } from './memory.ts';

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
