// A heap is collected when it has grown, regardless of its live size.
import { expect, test } from 'vitest';

import { HeapWatch } from './heap-watch.ts';

const MEBIBYTE = 1 << 20;

function subject(growthMiB: number) {
  const heap = { liveBytes: 0, garbageBytes: 0, collections: 0, releases: 0 };
  const watch = new HeapWatch(growthMiB * MEBIBYTE, {
    usedBytes: () => heap.liveBytes + heap.garbageBytes,
    collect: () => {
      heap.garbageBytes = 0;
      heap.collections++;
    },
    release: () => {
      heap.garbageBytes = 0;
      heap.releases++;
    },
  });
  const makeGarbage = (sizeBytes: number): void => {
    heap.garbageBytes += sizeBytes;
    watch.made(sizeBytes);
  };
  return { heap, watch, makeGarbage };
}

test('garbage never grows beyond the limit, and what is live is not collected for', () => {
  const { heap, watch, makeGarbage } = subject(100);
  let most = 0;
  heap.liveBytes = 500 * MEBIBYTE;
  for (let i = 0; i < 1000; i++) {
    makeGarbage(10 * MEBIBYTE);
    most = Math.max(most, heap.garbageBytes);
  }
  expect(most).toBeLessThanOrEqual(110 * MEBIBYTE);
  expect(heap.collections).toBeLessThanOrEqual(100);

  const collections = heap.collections;
  for (let i = 0; i < 1000; i++) watch.made(10 * MEBIBYTE);
  expect(heap.collections).toBe(collections);
});

test('a heap that the engine has collected itself is measured from there', () => {
  const { heap, watch } = subject(100);
  for (const used of [50, 140, 20, 110]) {
    heap.garbageBytes = used * MEBIBYTE;
    watch.made(4 * MEBIBYTE);
  }
  expect(heap.collections).toBe(0);

  heap.garbageBytes = 120 * MEBIBYTE;
  watch.made(4 * MEBIBYTE);
  expect(heap.collections).toBe(1);
});

test('the heap is not looked at for each small object', () => {
  const { heap, makeGarbage } = subject(1);
  for (let i = 0; i < 3000; i++) makeGarbage(1000);
  expect(heap.collections).toBe(0);
  for (let i = 0; i < 6000; i++) makeGarbage(1000);
  expect(heap.collections).toBe(1);
});

test('objects released after a collection are garbage of the next one', () => {
  const { heap, watch, makeGarbage } = subject(100);
  makeGarbage(4 * MEBIBYTE);
  heap.liveBytes = 300 * MEBIBYTE;
  watch.hold(300 * MEBIBYTE);
  expect(heap.collections).toBe(0);
  makeGarbage(120 * MEBIBYTE);
  expect(heap.collections).toBe(1);

  heap.liveBytes = 0;
  heap.garbageBytes = 300 * MEBIBYTE;
  watch.letGo(300 * MEBIBYTE);
  // Other objects may still refer to it.
  expect(heap.collections).toBe(1);
  makeGarbage(1);
  expect([heap.collections, heap.garbageBytes]).toEqual([2, 0]);
});

test('after a release the heap is measured from there', () => {
  const { heap, watch, makeGarbage } = subject(100);
  makeGarbage(90 * MEBIBYTE);
  watch.release();
  makeGarbage(90 * MEBIBYTE);
  expect([heap.collections, heap.releases]).toEqual([0, 1]);
  makeGarbage(20 * MEBIBYTE);
  expect(heap.collections).toBe(1);
});
