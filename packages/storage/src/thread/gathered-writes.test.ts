import { TestClock } from '@tidemark/testkit';
import { beforeEach, expect, test } from 'vitest';

import { POLICY } from '../testing/fixtures.ts';
import { GatheredWrites } from './gathered-writes.ts';
import { RingReader, ringMemory, RingWriter } from './write-ring.ts';

const REQUEST = { policy: POLICY, body: Buffer.from('m v=1'), precision: 'ns', now: 1n } as const;

let clock: TestClock;
let writer: RingWriter;
/** Ids of the groups that were begun, and what ends each. */
let groups: { readonly ids: readonly number[]; readonly onDone: () => void }[];
let writes: GatheredWrites;

beforeEach(() => {
  const memory = ringMemory();
  clock = new TestClock(0n);
  writer = new RingWriter(memory);
  groups = [];
  writes = new GatheredWrites({
    ring: new RingReader(memory),
    clock,
    make: (taken, onDone) => groups.push({ ids: taken.map(({ id }) => id), onDone }),
  });
});

/** As the other thread does it. */
function add(...ids: readonly number[]): void {
  for (const id of ids) {
    writer.add(id, REQUEST);
    if (writer.mustWake()) writes.take();
  }
}

const ids = (): readonly (readonly number[])[] => groups.map((group) => group.ids);

test('what comes while a group becomes durable is the next group, and the first one goes at once', () => {
  add(1);
  expect(ids()).toEqual([[1]]);
  add(2, 3, 4);
  expect(ids()).toEqual([[1]]);

  groups[0]!.onDone();
  expect(ids()).toEqual([[1], [2, 3, 4]]);
  groups[1]!.onDone();
  add(5);
  expect(ids()).toEqual([[1], [2, 3, 4], [5]]);
});

test('a group that takes long does not hold up the next one for long, and ends without effect', async () => {
  add(1);
  add(2);
  await clock.advance(4);
  expect(ids()).toEqual([[1]]);
  await clock.advance(1);
  expect(ids()).toEqual([[1], [2]]);

  add(3);
  groups[0]!.onDone();
  expect(ids()).toEqual([[1], [2]]);
  groups[1]!.onDone();
  expect(ids()).toEqual([[1], [2], [3]]);
});

test('a group that ends while it is begun is followed by what came meanwhile', () => {
  const memory = ringMemory();
  const other = new RingWriter(memory);
  const begun: number[] = [];
  other.add(1, REQUEST);
  const failing = new GatheredWrites({
    ring: new RingReader(memory),
    clock,
    make: (taken, onDone) => {
      begun.push(...taken.map(({ id }) => id));
      if (begun.length === 1) other.add(2, REQUEST);
      onDone();
    },
  });

  expect(begun).toEqual([1, 2]);
  other.add(3, REQUEST);
  expect(other.mustWake()).toBe(true);
  failing.take();
  expect(begun).toEqual([1, 2, 3]);
});
