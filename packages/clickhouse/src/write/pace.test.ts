import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { LIMITS } from '../limits.ts';
import { InsertPace } from './pace.ts';

/** Requests that wait for their insert, and whether it has begun. */
function paced() {
  const clock = new TestClock();
  const pace = new InsertPace(clock);
  const waiting = { waiters: [] as string[], sizeBytes: 0 };
  let begun = 0;
  return {
    clock,
    begin: async () => {
      const before = begun;
      const wait = pace.begin(() => waiting);
      if (wait === undefined) begun++;
      else void wait.then(() => begun++);
      await settle();
      return begun > before;
    },
    arrive: async (name: string, sizeBytes = 1000) => {
      waiting.waiters.push(name);
      waiting.sizeBytes += sizeBytes;
      pace.arrive();
      await settle();
      return begun;
    },
    pass: async (ms: number) => {
      clock.advance(ms);
      await settle();
      return begun;
    },
    /** The insert ends, and what has waited is in it. */
    end: (answered: number) => {
      waiting.waiters.length = 0;
      waiting.sizeBytes = 0;
      pace.end(answered, 0);
    },
  };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

test('a single client never waits for others', async () => {
  const { arrive, begin, end, pass } = paced();
  await arrive('a');
  expect(await begin()).toBe(true);
  await pass(LIMITS.batchMs.value);
  end(1);
  await arrive('a');
  expect(await begin()).toBe(true);
});

test('inserts that follow each other quickly are a while apart', async () => {
  const { arrive, begin, end, pass } = paced();
  await arrive('a');
  await begin();
  await pass(10);
  end(1);
  await arrive('a');
  expect(await begin()).toBe(false);
  expect(await pass(LIMITS.batchMs.value - 11)).toBe(1);
  expect(await pass(1)).toBe(2);
});

test('an insert waits for those who were answered just now', async () => {
  const { arrive, begin, end, pass } = paced();
  for (const name of ['a', 'b', 'c']) await arrive(name);
  await begin();
  await pass(200);
  end(3);
  await arrive('b');
  expect(await begin()).toBe(false);
  expect(await arrive('a')).toBe(1);
  expect(await arrive('c')).toBe(2);
});

test('but no longer than the last insert took, nor than its limit', async () => {
  const took = async (ms: number): Promise<number> => {
    const { arrive, begin, end, pass } = paced();
    for (const name of ['a', 'b']) await arrive(name);
    await begin();
    await pass(ms);
    end(2);
    await arrive('b');
    await begin();
    let waitedMs = 0;
    while ((await pass(1)) === 1) waitedMs++;
    return waitedMs + 1;
  };
  expect(await took(100)).toBe(100);
  expect(await took(1)).toBe(LIMITS.batchMs.value);
  expect(await took(5000)).toBe(LIMITS.gatherMs.value);
});

test('and not at all when there are many rows already', async () => {
  const { arrive, begin, end, pass } = paced();
  for (const name of ['a', 'b', 'c']) await arrive(name);
  await begin();
  await pass(200);
  end(3);
  await arrive('b');
  await begin();
  expect(await arrive('a', LIMITS.batchBytes.value)).toBe(2);
});

test('those who have gone are not waited for twice', async () => {
  const { arrive, begin, end, pass } = paced();
  for (const name of ['a', 'b']) await arrive(name);
  await begin();
  await pass(100);
  end(2);
  await arrive('a');
  await begin();
  expect(await pass(100)).toBe(2);
  await pass(100);
  end(1);
  await arrive('a');
  expect(await begin()).toBe(true);
});
