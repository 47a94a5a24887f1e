// Waiting for rows that are processed in another thread, but not for a task that lags behind.
import { systemClock } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { ProcessedRows } from './processed-rows.ts';

async function isSettled(wait: Promise<void> | undefined): Promise<boolean> {
  let settled = wait === undefined;
  wait?.then(
    () => (settled = true),
    () => undefined,
  );
  for (let i = 0; i < 5; i++) await Promise.resolve();
  return settled;
}

test('a wait ends when what was sent before it is done, later rows do not matter', async () => {
  const rows = new ProcessedRows(new TestClock());
  expect(rows.wait()).toBeUndefined();

  rows.sent(10);
  const first = rows.wait();
  rows.sent(5);
  const second = rows.wait();
  rows.done(9);
  expect(await isSettled(first)).toBe(false);

  rows.done(1);
  expect([await isSettled(first), await isSettled(second)]).toEqual([true, false]);
  rows.done(5);
  expect(await isSettled(second)).toBe(true);
  expect(rows.wait()).toBeUndefined();
});

test('a task that makes no progress is not waited for until it has caught up', async () => {
  const clock = new TestClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  const wait = rows.wait();

  clock.advance(250);
  expect(await isSettled(wait)).toBe(true);
  rows.sent(1);
  expect(rows.wait()).toBeUndefined();

  rows.done(11);
  rows.sent(1);
  expect(await isSettled(rows.wait())).toBe(false);
});

test('a task that goes on working is waited for longer', async () => {
  const clock = new TestClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  const wait = rows.wait();
  rows.done(5);

  clock.advance(250);
  expect(await isSettled(wait)).toBe(false);
  rows.done(5);
  expect(await isSettled(wait)).toBe(true);
});

test('a write has its whole time, though an older one has left a timer', async () => {
  const clock = new TestClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  void rows.wait();
  clock.advance(200);
  rows.done(10);
  rows.sent(1);
  const wait = rows.wait();

  clock.advance(50);
  expect(await isSettled(wait)).toBe(false);
  clock.advance(199);
  expect(await isSettled(wait)).toBe(false);
  clock.advance(1);
  expect(await isSettled(wait)).toBe(true);
});

test('rows that are lost are waited for no longer', async () => {
  const rows = new ProcessedRows(new TestClock());
  rows.sent(3);
  const wait = rows.wait();

  rows.clear();

  expect(await isSettled(wait)).toBe(true);
});

test('the timer of a task that ends does not keep the process', () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const rows = new ProcessedRows(systemClock());
  rows.sent(3);
  void rows.wait();
  rows.done(3);
  expect(timers()).toBe(before + 1);

  rows.clear();

  expect(timers()).toBe(before);
});
