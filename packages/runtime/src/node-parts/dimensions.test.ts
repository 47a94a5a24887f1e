// The cache from series to groups drops deleted groups.
import { expect, test } from 'vitest';
import { GroupCache } from './dimensions.ts';

test('groups that come and go do not pile up', () => {
  const cache = new GroupCache<{ isReleased: boolean }>();

  for (let id = 0; id < 10_000; id++) {
    const group = { isReleased: false };
    cache.set(0, id, group);
    if (id % 10 === 0) continue;
    cache.noteGone();
    group.isReleased = true;
  }

  // A tenth stays, a part of the others waits to be let go of.
  expect(cache.heldCount).toBeGreaterThanOrEqual(1000);
  expect(cache.heldCount).toBeLessThan(1000 + 10_000 / 3);
  expect(cache.get(0, 0)).toBeDefined();
  expect(cache.get(0, 9_999)).toBeUndefined();
});

test('pages whose groups are all gone are let go of', () => {
  const cache = new GroupCache<{ isReleased: boolean }>();
  const groups = Array.from({ length: 10_000 }, () => ({ isReleased: false }));

  groups.forEach((group, id) => cache.set(0, id, group));
  for (const group of groups.slice(0, 9_000)) {
    group.isReleased = true;
    cache.noteGone();
  }

  expect(cache.pageCount).toBeLessThan(groups.length / 64 / 2);
  expect(cache.get(0, 9_500)).toBe(groups[9_500]);
});

test('series of an earlier epoch are neither remembered nor taken for others', () => {
  const cache = new GroupCache<{ isReleased: boolean }>();
  const group = { isReleased: false };
  cache.set(100, 100, group);

  cache.set(100, 7, { isReleased: false });

  expect(cache.get(100, 7)).toBeUndefined();
  expect(cache.get(100, 100)).toBe(group);
});

test('the groups of an earlier epoch are unknown', () => {
  const cache = new GroupCache<{ isReleased: boolean }>();
  const group = { isReleased: false };
  cache.set(0, 7, { isReleased: false });

  cache.set(8, 8, group);

  expect(cache.get(8, 7)).toBeUndefined();
  expect(cache.get(8, 8)).toBe(group);
  expect(cache.heldCount).toBe(1);
});
