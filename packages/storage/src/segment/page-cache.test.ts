// Pages of directories stay within their bytes.
import { expect, test } from 'vitest';

import type { ChunkMeta, PageMeta } from './format.ts';
import { PageCache } from './page-cache.ts';

const CHUNK: ChunkMeta = {
  minTime: 0n,
  maxTime: 0n,
  rows: 1,
  timeOffset: 0,
  timeBytes: 1,
  columns: [],
};

function pageOf(series: number): ReadonlyMap<number, readonly ChunkMeta[]> {
  return new Map(Array.from({ length: series }, (_, id) => [id, [CHUNK]]));
}

const key = (firstSeries: number): PageMeta => ({ firstSeries, offset: 0, length: 0 });

test('the least recently used pages go when the bytes are used up', () => {
  const one = new PageCache();
  one.set({}, key(0), pageOf(100));
  const cache = new PageCache(one.sizeBytes * 2);
  const keys = [key(0), key(1), key(2)] as const;

  for (const page of keys.slice(0, 2)) cache.set({}, page, pageOf(100));
  cache.get(keys[0]);
  cache.set({}, keys[2], pageOf(100));

  expect(keys.map((page) => cache.get(page) !== undefined)).toEqual([true, false, true]);
  expect(cache.sizeBytes).toBe(one.sizeBytes * 2);
});

test('a page that is larger than all there may be stays until the next comes', () => {
  const cache = new PageCache(1);
  const [large, next] = [key(0), key(1)];

  cache.set({}, large, pageOf(10));
  expect(cache.get(large)).toBeDefined();
  cache.set({}, next, pageOf(10));

  expect(cache.get(large)).toBeUndefined();
  expect(cache.get(next)).toBeDefined();
});

test('the pages of an owner go with it', () => {
  const cache = new PageCache();
  const [gone, stays] = [{}, {}];
  const [first, second] = [key(0), key(1)];
  cache.set(gone, first, pageOf(1));
  cache.set(stays, second, pageOf(1));

  cache.forget(gone);

  expect(cache.get(first)).toBeUndefined();
  expect(cache.get(second)).toBeDefined();
});
