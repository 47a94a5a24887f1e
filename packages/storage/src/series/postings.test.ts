// Postings, compared with their column, and which of them are cached.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { finish } from '../schedule/steps.ts';
import { TagPostings } from './postings.ts';
import { PostingsCache } from './postings-cache.ts';

const VALUE_MAX = 40;
const NO_LIMIT = Number.POSITIVE_INFINITY;

function build(column: Uint32Array, end: number, bytesMax = NO_LIMIT): TagPostings | undefined {
  return finish(TagPostings.build(column, { end, valueMax: VALUE_MAX, bytesMax }));
}

test('a list holds the series that have the value, those behind the column lack the tag', () => {
  const column = fc.array(fc.nat(VALUE_MAX), { maxLength: 400 }).map((a) => Uint32Array.from(a));
  fc.assert(
    fc.property(column, fc.nat(60), (values, behind) => {
      const end = values.length + behind;
      const postings = build(values, end)!;
      const stored = Array.from({ length: end }, (_, i) => values[i] ?? 0);

      expect([...postings.values]).toEqual([...new Set(stored)].sort((a, b) => a - b));
      for (let value = 0; value <= VALUE_MAX; value++) {
        const expected = stored.flatMap((v, i) => (v === value ? [i] : []));
        expect([...postings.list(value)]).toEqual(expected);
        expect(postings.countBound(value)).toBeGreaterThanOrEqual(expected.length);
      }
    }),
  );
});

test('series far apart are found again', () => {
  const ordinals = [0, 127, 128, 20_000, 20_001, 2_200_000];
  const column = new Uint32Array(2_200_001).fill(1);
  for (const ordinal of ordinals) column[ordinal] = 2;

  expect([...build(column, column.length)!.list(2)]).toEqual(ordinals);
});

test('a reader that has seen enough is not given more', () => {
  const seen: number[] = [];
  const postings = build(Uint32Array.of(1, 2, 1, 1), 4)!;

  const isFound = postings.some(1, (ordinal) => {
    seen.push(ordinal);
    return ordinal === 2;
  });

  expect(isFound).toBe(true);
  expect(seen).toEqual([0, 2]);
});

test('postings that would take too much are not made', () => {
  const column = Uint32Array.from({ length: 30 }, (_, i) => i + 1);
  const { memoryBytes } = build(column, 30)!;

  expect(build(column, 30, memoryBytes)).toBeDefined();
  expect(build(column, 30, memoryBytes - 1)).toBeUndefined();
  expect(build(column, 30, 10)).toBeUndefined();
});

const columnOf = (length: number): { values: Uint32Array } => ({
  values: Uint32Array.from({ length }, (_, i) => (i % VALUE_MAX) + 1),
});

test('the least recently used postings go when the budget is used up', () => {
  const columns = [columnOf(1000), columnOf(1000), columnOf(1000)] as const;
  const { memoryBytes } = build(columns[0].values, 1000)!;
  const cache = new PostingsCache(memoryBytes * 2, 1);
  const use = (column: { values: Uint32Array }): TagPostings | undefined =>
    finish(cache.of(column, { count: 1000, symbolCount: VALUE_MAX }));

  const first = use(columns[0]);
  const second = use(columns[1]);
  use(columns[0]);
  use(columns[2]);

  expect(cache.memoryBytes).toBe(memoryBytes * 2);
  expect(use(columns[0])).toBe(first);
  expect(use(columns[1])).not.toBe(second);
});

test('postings are made anew when many series came, not for a few', () => {
  const column = columnOf(40_000);
  const cache = new PostingsCache(1 << 20, 1);
  const use = (count: number): number | undefined =>
    finish(cache.of(column, { count, symbolCount: VALUE_MAX }))?.end;

  expect([use(30_000), use(34_000), use(34_097), use(34_100)]).toEqual([
    30_000, 30_000, 34_097, 34_097,
  ]);
});

test('lists that do not fit the budget are not tried repeatedly', () => {
  const column = columnOf(1000);
  const cache = new PostingsCache(100, 1);

  expect(finish(cache.of(column, { count: 1000, symbolCount: VALUE_MAX }))).toBeUndefined();
  const again = cache.of(column, { count: 1000, symbolCount: VALUE_MAX });

  // Making postings pauses: nothing was made.
  expect(again.next()).toEqual({ done: true, value: undefined });
  expect(cache.memoryBytes).toBe(0);
});
