import { TestClock } from '@tidemark/testkit';
import { beforeEach, expect, test } from 'vitest';

import { Deadlines } from './deadlines.ts';

let clock: TestClock;
let deadlines: Deadlines;
let late: string[];

beforeEach(() => {
  clock = new TestClock(0n);
  deadlines = new Deadlines(clock, 1000);
  late = [];
});

/** Time goes on, and whoever waited for it has done what he wanted. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

const add = (name: string): (() => void) => deadlines.add(() => late.push(name));

test('calls those that were not ended in time, each after its own time', async () => {
  add('a');
  await pass(400);
  const endOfB = add('b');
  add('c');
  await pass(599);
  expect(late).toEqual([]);

  await pass(1);
  expect(late).toEqual(['a']);
  endOfB();
  await pass(400);
  expect(late).toEqual(['a', 'c']);
});

test('waits for nothing when everything was ended, and begins again', async () => {
  const end = add('a');
  end();
  end();
  await pass(5000);
  expect(late).toEqual([]);

  add('b');
  await pass(1000);
  expect(late).toEqual(['b']);
});
