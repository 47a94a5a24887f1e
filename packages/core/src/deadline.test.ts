import { expect, test } from 'vitest';
import type { Clock } from './clock.ts';
import { LATE, within } from './deadline.ts';

/** A clock whose time passes only when the test says so. */
function stoppedClock(): { readonly clock: Clock; readonly pass: () => void; cancelled: number } {
  let pass = (): void => undefined;
  const stopped = {
    cancelled: 0,
    pass: () => pass(),
    clock: {
      now: () => 0n,
      monotonicMs: () => 0,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          pass = resolve;
          signal?.addEventListener('abort', () => {
            stopped.cancelled++;
            reject(signal.reason);
          });
        }),
    },
  };
  return stopped;
}

test('work that ends in time is the answer, and its timer is taken back', async () => {
  const time = stoppedClock();

  expect(await within(time.clock, 10, Promise.resolve('done'))).toBe('done');
  expect(time.cancelled).toBe(1);
});

test('work that takes longer is late', async () => {
  const { clock, pass } = stoppedClock();
  const answer = within(clock, 10, new Promise<string>(() => undefined));
  pass();

  expect(await answer).toBe(LATE);
});

test('work that fails fails as it does', async () => {
  const { clock } = stoppedClock();

  await expect(within(clock, 10, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});
