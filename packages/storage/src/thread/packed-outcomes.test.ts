import { expect, test } from 'vitest';

import { isPlain, packOutcomes, unpackOutcomes } from './packed-outcomes.ts';
import type { PackedOutcomes } from './packed-outcomes.ts';

const PULL = { kind: 'pull', id: 7 } as const;

test('outcomes cross as numbers', () => {
  const outcome = { pointsWritten: 2, valuesWritten: 5, parseErrors: [], dropped: undefined };
  const sent = packOutcomes<typeof PULL>([{ kind: 'written', id: 3, outcome }, PULL]);

  const [pull, packed] = structuredClone(sent);

  expect(pull).toEqual(PULL);
  expect([...unpackOutcomes(packed as PackedOutcomes)]).toEqual([[3, outcome]]);
});

test('an outcome with something to say is not plain', () => {
  const plain = { pointsWritten: 1, valuesWritten: 1, parseErrors: [], dropped: undefined };

  expect(isPlain(plain)).toBe(true);
  expect(isPlain({ ...plain, parseErrors: ['unable to parse'] })).toBe(false);
  expect(isPlain({ ...plain, dropped: { count: 1, reason: 'too old' } })).toBe(false);
  expect(isPlain({ ...plain, unlistedCount: 2 })).toBe(false);
});

test('a list without outcomes stays as it is', () => {
  expect(packOutcomes<typeof PULL>([PULL])).toEqual([PULL]);
});
