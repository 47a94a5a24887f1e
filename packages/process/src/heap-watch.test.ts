// A heap is collected when it has grown, regardless of its live size.
import { expect, test } from 'vitest';

import { HeapWatch } from './heap-watch.ts';

function subject(growthBytes: number) {
  const heap = { liveBytes: 0, garbageBytes: 0, collections: 0 };
  const watch = new HeapWatch(growthBytes, {
    usedBytes: () => heap.liveBytes + heap.garbageBytes,
    collect: () => {
      heap.garbageBytes = 0;
      heap.collections++;
    },
  });
  return { heap, watch };
}

test('garbage never grows beyond the limit, and what is live is not collected for', () => {
  const { heap, watch } = subject(100);
  let most = 0;
  for (let i = 0; i < 1000; i++) {
    heap.liveBytes = 500;
    heap.garbageBytes += 10;
    most = Math.max(most, heap.garbageBytes);
    watch.look();
  }
  expect(most).toBeLessThanOrEqual(110);
  expect(heap.collections).toBeLessThanOrEqual(100);

  const collections = heap.collections;
  for (let i = 0; i < 1000; i++) watch.look();
  expect(heap.collections).toBe(collections);
});

test('a heap that the engine has collected itself is measured from there', () => {
  const { heap, watch } = subject(100);
  for (const used of [50, 140, 20, 110]) {
    heap.garbageBytes = used;
    watch.look();
  }
  expect(heap.collections).toBe(0);

  heap.garbageBytes = 120;
  watch.look();
  expect(heap.collections).toBe(1);
});
