// Waiting for rows that are processed in another thread, but not for a task that lags behind.
import type { Clock } from '@tidemark/core';
import { expect, test } from 'vitest';
import { ProcessedRows } from './processed-rows.ts';

/** A clock that the test moves. */
function manualClock(): { readonly clock: Clock; readonly pass: (ms: number) => Promise<void> } {
  let nowMs = 0;
  let sleepers: { readonly dueMs: number; readonly resolve: () => void }[] = [];
  return {
    clock: {
      now: () => 0n,
      monotonicMs: () => nowMs,
      sleep: (delayMs) =>
        new Promise((resolve) => sleepers.push({ dueMs: nowMs + delayMs, resolve })),
    },
    pass: async (ms) => {
      nowMs += ms;
      const due = sleepers.filter(({ dueMs }) => dueMs <= nowMs);
      sleepers = sleepers.filter(({ dueMs }) => dueMs > nowMs);
      for (const { resolve } of due) resolve();
      await Promise.resolve();
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
  const { clock, pass } = manualClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  const wait = rows.wait();

  await pass(250);
  expect(await isSettled(wait)).toBe(true);
  rows.sent(1);
  expect(rows.wait()).toBeUndefined();

  rows.done(11);
  rows.sent(1);
  expect(await isSettled(rows.wait())).toBe(false);
});

test('a task that goes on working is waited for longer', async () => {
  const { clock, pass } = manualClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  const wait = rows.wait();
  rows.done(5);

  await pass(250);
  expect(await isSettled(wait)).toBe(false);
  rows.done(5);
  expect(await isSettled(wait)).toBe(true);
});

test('a write has its whole time, though an older one has left a timer', async () => {
  const { clock, pass } = manualClock();
  const rows = new ProcessedRows(clock);
  rows.sent(10);
  void rows.wait();
  await pass(200);
  rows.done(10);
  rows.sent(1);
  const wait = rows.wait();

  await pass(50);
  await pass(199);
  expect(await isSettled(wait)).toBe(false);
  await pass(1);
  expect(await isSettled(wait)).toBe(true);
});

test('rows that are lost are waited for no longer', async () => {
  const rows = new ProcessedRows(manualClock().clock);
  rows.sent(3);
  const wait = rows.wait();

  rows.clear();

  expect(await isSettled(wait)).toBe(true);
});
