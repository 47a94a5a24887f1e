import { expect, test } from 'vitest';

import { PagedNumbers } from './paged-numbers.ts';

test('the next index with a number is found over pages that do not exist', () => {
  const numbers = new PagedNumbers();
  const indexes = [0, 7, 4095, 4096, 1_000_000];
  for (const index of indexes) numbers.set(index, index + 1);

  const found: number[] = [];
  const end = 2_000_000;
  for (let at = numbers.nextSet(0, end); at < end; at = numbers.nextSet(at + 1, end))
    found.push(at);

  expect(found).toEqual(indexes);
  expect(numbers.nextSet(8, 4000)).toBe(4000);
  expect(numbers.nextSet(1_000_000, 1_000_000)).toBe(1_000_000);
});
