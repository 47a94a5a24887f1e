import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { LIMITS } from '../limits.ts';
import { writeDeadline } from './write-deadline.ts';

describe('a write', () => {
  test('is tried for as long as the service waits for it, less what its answer takes', () => {
    expect(writeDeadline({ sinceMs: 1000, nowMs: 1000, timeoutMs: 10_000 })).toEqual({
      untilMs: 10_000,
      refusedMs: 10_500,
    });
    expect(writeDeadline({ sinceMs: 0, nowMs: 0, timeoutMs: 60_000 }).refusedMs).toBe(57_000);
  });

  test('is refused before the service ends it, however late its batch begins', () => {
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.nat(20_000),
        fc.integer({ min: 1, max: 120_000 }),
        (sinceMs, waitedMs, timeoutMs) => {
          const { untilMs, refusedMs } = writeDeadline({
            sinceMs,
            nowMs: sinceMs + waitedMs,
            timeoutMs,
          });
          expect(refusedMs).toBeLessThan(sinceMs + timeoutMs);
          expect(untilMs).toBeGreaterThan(sinceMs);
          expect(untilMs).toBeLessThan(refusedMs);
        },
      ),
    );
  });

  test('that no time limits is tried for a while, and once more after it has waited for others', () => {
    const { untilMs } = writeDeadline({ sinceMs: 0, nowMs: 0, timeoutMs: 0 });
    expect(untilMs).toBe(LIMITS.insertMs.value);
    const late = writeDeadline({ sinceMs: 0, nowMs: 30_000, timeoutMs: 0 });
    expect(late.untilMs).toBe(30_000 + LIMITS.lastTryMs.value);
  });
});
