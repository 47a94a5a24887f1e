import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { ByteLru } from './byte-lru.ts';

test('the least recently used entry goes first, and its owner is notified', () => {
  const dropped: string[] = [];
  const cache = new ByteLru<string, number>(10, (key) => dropped.push(key));
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);
  cache.get('a');
  cache.peek('b');

  cache.set('c', 3, 4);

  expect(dropped).toEqual(['b']);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
});

test('the newest entry stays however heavy it is, and everything else goes', () => {
  const cache = new ByteLru<string, number>(10);
  cache.set('a', 1, 4);

  cache.set('b', 2, 11);

  expect([...cache.values()]).toEqual([2]);
  expect(cache.weight).toBe(11);
});

test('an entry that became heavier makes others go, not itself', () => {
  const cache = new ByteLru<string, number>(10);
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);

  cache.reweigh('b', 9);

  expect([cache.get('a'), cache.get('b'), cache.weight]).toEqual([undefined, 2, 9]);
});

test('an entry that became heavier makes those go that were used since, too', () => {
  const cache = new ByteLru<string, number>(10);
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);

  cache.reweigh('a', 9);

  expect([cache.get('a'), cache.get('b'), cache.weight]).toEqual([1, undefined, 9]);
});

test('the weight is that of what is there, whatever was done', () => {
  const step = fc.tuple(
    fc.constantFrom('set', 'get', 'delete', 'reweigh'),
    fc.nat(5),
    fc.integer({ min: 0, max: 6 }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const weights = new Map<number, number>();
      const cache = new ByteLru<number, number>(12, (key) => weights.delete(key));
      for (const [what, key, weight] of steps) {
        if (what === 'get') cache.get(key);
        else if (what === 'delete') cache.delete(key);
        else {
          // Noted before the call, since the call reports what it evicts at once.
          const isThere = what === 'set' || weights.has(key);
          if (what === 'set') cache.delete(key);
          if (isThere) weights.set(key, weight);
          if (what === 'set') cache.set(key, key, weight);
          else cache.reweigh(key, weight);
        }
        const sum = [...weights.values()].reduce((a, b) => a + b, 0);
        expect([cache.weight, cache.count]).toEqual([sum, weights.size]);
        expect(cache.weight <= 12 || cache.count === 1).toBe(true);
      }
    }),
  );
});
