import { afterEach, expect, test } from 'vitest';

import { systemClock } from '@tidemark/core';

import { testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

let storage: TestEngine;

afterEach(() => storage.dispose());

/**
 * Segments after so many steps of background work, each of which takes a second; a burst is written
 * before.
 */
async function segmentsAfter(steps: number, quietFlushAfterMs: number): Promise<number> {
  const start = performance.now();
  let slept = 0;
  let isWritten = false;
  let arrive: () => void;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const clock = {
    ...systemClock(),
    monotonicMs: () => start + slept * 1000,
    sleep: async (_delayMs: number, signal?: AbortSignal) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (isWritten && slept++ === steps) arrive();
      if (slept <= steps || signal === undefined || signal.aborted) return;
      // The work of the last step is over; nothing follows until the engine is closed.
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  storage = await testEngine({ hasBackgroundWork: true, quietFlushAfterMs }, { clock });
  const lines = Array.from({ length: 40_000 }, (_, i) => `m,host=h${i % 100} f=${i},g=${i} ${i}`);
  await write(storage.engine, lines.join('\n'));
  isWritten = true;
  await arrived;
  const { counters } = await storage.engine.statistics();
  return counters['flushes'] ?? Number.NaN;
}

test('a burst of points is flushed when none came for some seconds', async () => {
  expect(await segmentsAfter(4, 2000)).toBe(1);
});

test('a burst of points stays in memory when it has to wait until it is old', async () => {
  expect(await segmentsAfter(100, 0)).toBe(0);
  await storage.dispose();
  expect(await segmentsAfter(602, 0)).toBe(1);
});
