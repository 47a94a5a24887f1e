// The short form of `npm run soak:damage`.
import { expect, test } from 'vitest';

import { seededRandom } from '@tidemark/testkit';
import { soakDamage } from './damage.ts';

test('damaged files are never answered from without a word, and verify finds them', async () => {
  const result = await soakDamage({
    rounds: 1,
    random: seededRandom(20261122),
    oneOf: 25,
    say: () => undefined,
  });

  expect(result.problems).toEqual([]);
  expect(result.cases).toBeGreaterThan(20);
  expect(Math.min(result.same, result.refused, result.marked)).toBeGreaterThan(0);
}, 180_000);
