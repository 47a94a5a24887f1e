// Waiting for rows that are processed in another thread, but not for a task that lags behind.
import type { Clock } from '@tidemark/core';
import { expect, test } from 'vitest';
import { ProcessedRows } from './processed-rows.ts';

/** A clock whose sleepers wake when the test says so. */
function manualClock(): { readonly clock: Clock; readonly wake: () => void } {
  let sleepers: (() => void)[] = [];
  return {
    clock: {
      now: () => 0n,
      monotonicMs: () => 0,
      sleep: (_delayMs, signal) =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          sleepers.push(resolve);
        }),
    },
    wake: () => {
      const due = sleepers;
      sleepers = [];
      for (const resolve of due) resolve();
    },
  };
}

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
  const rows = new ProcessedRows(manualClock().clock);
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
  const { clock, wake } = manualClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  const wait = rows.wait();

  wake();
  expect(await isSettled(wait)).toBe(true);
  rows.sent(1);
  expect(rows.wait()).toBeUndefined();

  rows.done(11);
  rows.sent(1);
  expect(await isSettled(rows.wait())).toBe(false);
});

test('a task that goes on working is waited for longer', async () => {
  const { clock, wake } = manualClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  const wait = rows.wait();
  rows.done(5);

  wake();
  expect(await isSettled(wait)).toBe(false);
  rows.done(5);
  expect(await isSettled(wait)).toBe(true);
});

test('rows that are lost are waited for no longer', async () => {
  const rows = new ProcessedRows(manualClock().clock);
  rows.sent(3);
  const wait = rows.wait();

  rows.clear();

  expect(await isSettled(wait)).toBe(true);
});
