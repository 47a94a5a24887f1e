import { expect, test } from 'vitest';
import type { WriteLinesRequest } from '@tidemark/storage-api';

import { POLICY } from '../testing/fixtures.ts';
import { isPlain, packOutcomes, packWrites, unpackOutcomes, unpackWrites } from './small-writes.ts';
import type { PackedOutcomes, PackedWrites } from './small-writes.ts';

const PULL = { kind: 'pull', id: 7 } as const;

function request(text: string): WriteLinesRequest {
  return { policy: POLICY, body: Buffer.from(text), precision: 'ns', now: 5n, isDetailed: true };
}

test('writes cross as one message behind the others, an empty body among them', () => {
  const texts = ['m v=1', '', 'm,t=ä v=2 3\n'];
  const sent = packWrites<typeof PULL>([
    ...texts.map((text, id) => ({ kind: 'small-write', id, request: request(text) }) as const),
    PULL,
  ]);

  const [pull, packed] = structuredClone(sent);
  const writes = [...unpackWrites(packed as PackedWrites)];

  expect(sent).toHaveLength(2);
  expect(pull).toEqual(PULL);
  expect(writes.map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(writes.map(({ request: { body } }) => Buffer.from(body).toString())).toEqual(texts);
  for (const { request: one } of writes) {
    expect(one).toMatchObject({ policy: POLICY, precision: 'ns', now: 5n, isDetailed: true });
  }
});

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

test('a list without writes stays as it is', () => {
  expect(packWrites<typeof PULL>([PULL])).toEqual([PULL]);
  expect(packOutcomes<typeof PULL>([PULL])).toEqual([PULL]);
});
