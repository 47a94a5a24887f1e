import { expect, test } from 'vitest';
import { clockTimers, VirtualTimers } from './timers.ts';

test('virtual timers fire in order of time, then of their making', () => {
  const timers = new VirtualTimers(0n);
  const fired: string[] = [];
  timers.at(20n, () => fired.push('b'));
  timers.at(10n, () => {
    fired.push(`a at ${timers.now()}`);
    timers.at(15n, () => fired.push('nested'));
  });
  const cancel = timers.at(12n, () => fired.push('cancelled'));
  timers.at(20n, () => fired.push('c'));
  cancel();

  timers.advanceTo(30n);

  expect(fired).toEqual(['a at 10', 'nested', 'b', 'c']);
  expect(timers.now()).toBe(30n);
});

test('delays longer than the platform can wait are waited in parts', async () => {
  const slept: number[] = [];
  const clock = {
    now: () => 0n,
    monotonicMs: () => 0,
    sleep: (ms: number) => {
      slept.push(ms);
      return Promise.resolve();
    },
  };
  const sixtyDays = 60n * 86_400n * 1_000_000_000n;

  await new Promise<void>((resolve) => {
    clockTimers(clock).at(sixtyDays, resolve);
  });

  expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(60 * 86_400_000);
  expect(Math.max(...slept)).toBeLessThan(2 ** 31);
});
