import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { SyncedStates } from './synced-states.ts';

test('states count once the coordinator has had time to sync them', () => {
  const clock = new TestClock();
  const states = new SyncedStates(clock, 120_000);

  expect(states.saved(10)).toBe(0);
  clock.advance(60_000);
  expect(states.saved(20)).toBe(0);
  clock.advance(60_000);
  expect(states.saved(30)).toBe(10);
  clock.advance(59_999);
  expect(states.saved(40)).toBe(10);
  clock.advance(1);
  expect(states.saved(50)).toBe(20);
});

test('a task that goes on from an older state keeps what that needs', () => {
  const clock = new TestClock();
  const states = new SyncedStates(clock, 1000);
  states.saved(10);
  clock.advance(1000);

  expect(states.saved(4)).toBe(4);
});

test('a coordinator that syncs every change has what it has acknowledged', () => {
  const states = new SyncedStates(new TestClock(), 0);

  expect(states.saved(10)).toBe(10);
});
