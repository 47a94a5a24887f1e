import { TestClock } from '@tidemark/testkit';
import { beforeEach, expect, test } from 'vitest';

import { Budget } from './budget.ts';
import type { Holder, Part } from './budget.ts';
import { Unavailable } from './errors.ts';

let clock: TestClock;
let budget: Budget;

async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The parts handed out so far, by name, in the order in which they were handed out. */
let given: Map<string, Part>;
let refused: Map<string, unknown>;

function take(name: string, sizeBytes: number, holder?: Holder): void {
  Promise.resolve(budget.take(sizeBytes, holder)).then(
    (part) => given.set(name, part),
    (error: unknown) => refused.set(name, error),
  );
}

beforeEach(() => {
  clock = new TestClock();
  given = new Map();
  refused = new Map();
  budget = new Budget({
    setting: 'section.key',
    limitBytes: 100,
    waitMs: 10_000,
    clock,
    what: 'things',
  });
});

test('gives parts at once while there is room, then in order as others give theirs back', async () => {
  const first = budget.take(60);
  expect(first).not.toBeInstanceOf(Promise);
  take('large', 80);
  take('small', 10);
  await pass(1);
  expect([...given.keys()]).toEqual([]);
  expect([budget.heldBytes, budget.waitingCount]).toEqual([60, 2]);

  (first as Part).release();
  (first as Part).release();
  await pass(1);

  expect([...given.keys()]).toEqual(['large', 'small']);
  expect([budget.heldBytes, budget.waitingCount]).toEqual([90, 0]);
});

test('a request that waits too long is refused with the setting; one behind it may fit', async () => {
  const first = budget.take(95);
  take('large', 80);
  await pass(1);
  take('small', 5);
  await pass(9);

  expect(refused.get('large')).toBeInstanceOf(Unavailable);
  expect(String(refused.get('large'))).toContain('setting=`section.key`');
  expect([...given.keys()]).toEqual(['small']);
  expect(budget.counters).toMatchObject({ refused: 1, revoked: 0 });
  expect((first as Part).sizeBytes).toBe(95);
});

test('a request larger than the budget gets all of it', async () => {
  take('huge', 1000);
  await pass(1);

  expect(given.get('huge')?.sizeBytes).toBe(100);
  given.get('huge')?.release();
  expect(budget.heldBytes).toBe(0);
});

test('a holder that gets nowhere loses its part, but only while others wait', async () => {
  const revoked: string[] = [];
  let progress = 0;
  const holder = (name: string, at: () => number | undefined): Holder => ({
    progress: at,
    revoke: () => {
      revoked.push(name);
      given.get(name)?.release();
    },
  });
  take(
    'idle',
    40,
    holder('idle', () => 7),
  );
  take(
    'busy',
    30,
    holder('busy', () => (progress += 100_000)),
  );
  take(
    'ours',
    30,
    holder('ours', () => undefined),
  );
  await pass(60);
  expect(revoked).toEqual([]);

  take('waiting', 20);
  await pass(4);
  expect(revoked).toEqual([]);
  await pass(2);

  expect(revoked).toEqual(['idle']);
  expect([...given.keys()]).toContain('waiting');
});

test('the oldest part grows to its largest size at once; room for that is kept from the others', async () => {
  budget = new Budget({
    setting: 's',
    limitBytes: 100,
    waitMs: 10_000,
    clock,
    what: 'things',
    grownBytesMax: 60,
  });
  const [oldest, second, third] = [10, 20, 10].map((bytes) => budget.take(bytes) as Part);
  take('newcomer', 20);
  const grown: string[] = [];
  const grow = (name: string, part: Part | undefined, bytes: number): void => {
    void Promise.resolve(part?.grow(bytes)).then(() => grown.push(name));
  };
  grow('third', third, 25);
  grow('second', second, 35);
  await pass(1);
  expect([budget.heldBytes, grown, [...given.keys()]]).toEqual([40, [], []]);

  expect(oldest?.grow(60)).toBeUndefined();
  expect([budget.heldBytes, budget.waitingCount]).toEqual([90, 3]);

  // The second is the oldest now; those that hold some come before the newcomer.
  oldest?.release();
  await pass(1);
  expect([grown, [...given.keys()]]).toEqual([['second', 'third'], []]);
  expect(second?.sizeBytes).toBe(35);
  third?.release();
  await pass(1);
  expect([...given.keys()]).toEqual(['newcomer']);
});

test('a part that waits to grow too long stays as it is, and one that is released waits no more', async () => {
  budget = new Budget({
    setting: 'section.key',
    limitBytes: 100,
    waitMs: 10_000,
    clock,
    what: 'things',
    grownBytesMax: 60,
  });
  const [, second, third] = [10, 20, 10].map((bytes) => budget.take(bytes) as Part);
  const refusal = expect(second?.grow(50)).rejects.toThrow('setting=`section.key`');
  const released = third?.grow(50);
  third?.release();
  await released;
  await pass(11);

  await refusal;
  expect([second?.sizeBytes, budget.heldBytes, budget.waitingCount]).toEqual([20, 30, 0]);
});

test('without a limit nothing waits', async () => {
  budget = new Budget({ setting: 's', limitBytes: 0, waitMs: 1, clock, what: 'things' });
  take('a', 1e12);
  take('b', 1e12);
  await pass(1);

  expect([...given.keys()]).toEqual(['a', 'b']);
});
