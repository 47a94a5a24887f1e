// Heaps of a small process are not collected for every large buffer.
import { spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { growSmallHeaps } from './heap-growth.ts';

test('heaps may grow while the process is small, and are left alone otherwise', async () => {
  let residentBytes = 100 << 20;
  const set: number[] = [];
  const end = growSmallHeaps({
    residentBytes: () => residentBytes,
    intervalMs: 1,
    setGrowth: (percent) => set.push(percent),
  });
  const untilSet = async (count: number): Promise<void> => {
    while (set.length < count) await setTimeout(1);
  };
  expect(set).toEqual([200]);

  residentBytes = 300 << 20;
  await untilSet(2);
  residentBytes = 200 << 20;
  await untilSet(3);
  end();

  expect(set).toEqual([200, 0, 200, 0]);
});

// As large answers do it behind a time of rest: buffers that live for a moment, beside few objects.
const buffersAfter = (before: string): string => `
  ${before}
  const objects = Array.from({ length: 300_000 }, (_, i) => ({ i, text: String(i) }));
  for (let i = 0; i < 4; i++) globalThis.gc();
  const held = [];
  for (let i = 0; i < 1_000; i++) {
    held[i % 24] = new Uint8Array(1 << 20);
    if (i % 8 === 0) globalThis.gc({ type: 'minor' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (objects.length === 0) process.exit(1);
`;

/** Collections of the whole heap while 1,000 MiB of buffers are made, one by one. */
function collections(before: string): number {
  const flags = ['--trace-gc', '--expose-gc', '--import', 'tsx', '--input-type=module', '--eval'];
  const { stdout, status } = spawnSync(process.execPath, [...flags, buffersAfter(before)], {
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stdout.split('\n').filter((line) => /Mark-Compact.*finalize/.test(line)).length;
}

test('buffers make the engine collect the whole heap less often', () => {
  const path = JSON.stringify(new URL('heap-growth.ts', import.meta.url).href);

  const grown = collections(`(await import(${path})).growSmallHeaps();`);
  const usual = collections(`await import(${path});`);

  expect(grown).toBeLessThan(usual);
});
