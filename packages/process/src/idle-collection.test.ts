// Memory is released in the first idle interval after work.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';

import { expect, test } from 'vitest';

import { IdleWatch, YoungBuffers, collectAll } from './idle-collection.ts';

/** The collections due in each of several intervals. */
const dueIn = (utilizations: readonly number[]): readonly (string | undefined)[] => {
  const watch = new IdleWatch();
  return utilizations.map((utilization) => watch.next(utilization));
};
const idle = (count: number): number[] => Array.from({ length: count }, () => 0);
const nothing = (count: number): undefined[] => Array.from({ length: count }, () => undefined);

test('collects once after work, and not before there was any', () => {
  const due = dueIn([0, 0.01, 0.5, 0.9, 0.05, 0.01, 0, 0, 0.2, 0.001]);

  expect(due).toEqual([...nothing(5), 'collect', ...nothing(3), 'collect']);
});

test('gives pages back once after a minute of rest, which some work begins anew', () => {
  const due = dueIn([1, ...idle(11), 1, ...idle(6), 0.05, ...idle(20)]);

  const rest = ['collect', ...nothing(10)];
  expect(due).toEqual([
    undefined,
    ...rest,
    undefined,
    ...rest,
    undefined,
    'shrink',
    ...nothing(14),
  ]);
});

// In a process of its own: the thread of a test is never idle.
const PROCESS = `
  import { collectWhenIdle } from ${JSON.stringify(new URL('idle-collection.ts', import.meta.url).href)};
  const registry = new FinalizationRegistry(() => process.stdout.write('collected'));
  const abandon = () => registry.register({}, undefined);
  abandon();
  collectWhenIdle(200);
  const busyUntil = performance.now() + 400;
  while (performance.now() < busyUntil);
  setTimeout(() => {}, 15_000);
`;

test('unreferenced memory is freed when the thread is idle', async () => {
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '--eval', PROCESS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill();

  expect(chunk.toString()).toBe('collected');
});

/** Size of this thread's heap for young objects, in bytes. */
function youngSpaceBytes(): number {
  return (
    getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
  );
}

test('a collection gives the pages of young objects back', async () => {
  const held: object[] = [];
  while (youngSpaceBytes() < 8 << 20) {
    for (let i = 0; i < 10_000; i++) held.push({ i });
  }
  held.length = 0;

  await collectAll();

  expect(youngSpaceBytes()).toBeLessThan(8 << 20);
});

test('young buffers are collected when so many were noted that the old objects would be', () => {
  let collectedCount = 0;
  const buffers = new YoungBuffers(() => collectedCount++);
  const counts = [1, 3, 2, 5, 0, 1, 20, 5].map((mebibytes) => {
    buffers.note(mebibytes << 20);
    return collectedCount;
  });

  expect(counts).toEqual([0, 0, 1, 1, 1, 2, 3, 3]);
});

test('a collection of young buffers frees those that nobody holds', async () => {
  const buffers = new YoungBuffers();
  const abandon = (): number => new Uint8Array(32 << 20).fill(1).length;
  const heldBytes = (): number => process.memoryUsage().arrayBuffers;
  const before = heldBytes();

  buffers.note(abandon());

  // They are freed by another thread.
  while (heldBytes() >= before + (32 << 20)) await setImmediate();
  expect(heldBytes()).toBeLessThan(before + (32 << 20));
});
