import { expect, test } from 'vitest';

import { Arrivals } from './arrivals.ts';
import type { Arrival } from './arrivals.ts';

interface Named extends Arrival<Named> {
  readonly name: string;
}

function names(list: Arrivals<Named>): string {
  return [...list].map(({ name }) => name).join('');
}

test('values stay in the order in which they came, wherever others are removed', () => {
  const list = new Arrivals<Named>();
  const all = [...'abcde'].map((name): Named => ({ name }));
  for (const one of all) list.add(one);
  expect(list.remove(all[2]!)).toBe(true);
  expect(names(list)).toBe('abde');
  expect(list.remove(all[2]!)).toBe(false);
  list.remove(all[0]!);
  list.remove(all[4]!);
  expect(names(list)).toBe('bd');
  expect([list.oldest, list.count]).toEqual([all[1], 2]);
  list.add(all[0]!);
  expect(names(list)).toBe('bda');
  for (const one of list) list.remove(one);
  expect([names(list), list.oldest, list.count]).toEqual(['', undefined, 0]);
});

test('who looks at all does not see those that are removed meanwhile', () => {
  const list = new Arrivals<Named>();
  const all = [...'abc'].map((name): Named => ({ name }));
  for (const one of all) list.add(one);
  const seen: string[] = [];
  for (const { name } of list) {
    seen.push(name);
    list.remove(all[0]!);
    list.remove(all[1]!);
  }
  expect(seen).toEqual(['a', 'c']);
});

test('a removed value leads to no other one', () => {
  const list = new Arrivals<Named>();
  const all = [...'abc'].map((name): Named => ({ name }));
  for (const one of all) list.add(one);
  list.remove(all[1]!);
  expect(all[1]).toEqual({ name: 'b', before: undefined, behind: undefined, isPresent: false });
});
