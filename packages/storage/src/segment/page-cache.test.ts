// The cache of directory pages stays within its size.
import { expect, test } from 'vitest';

import type { PageMeta } from './format.ts';
import { PageCache } from './page-cache.ts';

type Page = { sizeBytes: number };

const key = (firstSeries: number): PageMeta => ({
  isShared: false,
  firstSeries,
  offset: 0,
  length: 0,
});

test('the least recently used pages go when the bytes are used up', () => {
  const cache = new PageCache<Page>(200);
  const keys = [key(0), key(1), key(2)] as const;

  for (const page of keys.slice(0, 2)) cache.set({}, page, { sizeBytes: 100 });
  cache.get(keys[0]);
  cache.set({}, keys[2], { sizeBytes: 100 });

  expect(keys.map((page) => cache.get(page) !== undefined)).toEqual([true, false, true]);
  expect(cache.sizeBytes).toBe(200);
});

test('a page that is larger than all there may be stays until the next comes', () => {
  const cache = new PageCache<Page>(1);
  const [large, next] = [key(0), key(1)];

  cache.set({}, large, { sizeBytes: 10 });
  expect(cache.get(large)).toBeDefined();
  cache.set({}, next, { sizeBytes: 10 });

  expect(cache.get(large)).toBeUndefined();
  expect(cache.get(next)).toBeDefined();
});

test('a page that grows while it is read puts out others, not itself', () => {
  const cache = new PageCache<Page>(250);
  const grows: Page = { sizeBytes: 100 };
  const [other, growing] = [key(0), key(1)];
  cache.set({}, other, { sizeBytes: 100 });
  cache.set({}, growing, grows);

  grows.sizeBytes = 300;
  cache.resized(growing);

  expect([cache.get(other), cache.get(growing)]).toEqual([undefined, grows]);
  expect(cache.sizeBytes).toBe(300);
});

test('the pages of an owner go with it', () => {
  const cache = new PageCache<Page>();
  const [gone, stays] = [{}, {}];
  const [first, second] = [key(0), key(1)];
  cache.set(gone, first, { sizeBytes: 1 });
  cache.set(stays, second, { sizeBytes: 1 });

  cache.forget(gone);

  expect(cache.get(first)).toBeUndefined();
  expect(cache.get(second)).toBeDefined();
});
