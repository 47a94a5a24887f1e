import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Clock } from './clock.ts';
import { LATE, untilAborted, within } from './deadline.ts';

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

test('waiting until a signal is aborted ends with the work, its failure, or the signal', async () => {
  const stop = new AbortController();
  const failed = Promise.reject(new Error('failed'));

  expect(await untilAborted(Promise.resolve('done'), stop.signal)).toBe('done');
  expect(await untilAborted(undefined, stop.signal)).toBeUndefined();
  await expect(untilAborted(failed, stop.signal)).rejects.toThrow('failed');
  const waiting = untilAborted(new Promise<string>(() => undefined), stop.signal);
  stop.abort();
  expect(await waiting).toBeUndefined();
  // It is aborted already.
  expect(await untilAborted(new Promise<string>(() => undefined), stop.signal)).toBeUndefined();
});

test('a signal that lives long keeps nothing of those who waited', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { signal } = new AbortController();
  const heldAfter = async (count: number): Promise<number> => {
    for (let i = 0; i < count; i++) await untilAborted(Promise.resolve(i), signal);
    collect();
    return process.memoryUsage().heapUsed;
  };

  const before = await heldAfter(1000);
  // A race with a promise that lives long keeps 260 bytes of each.
  expect((await heldAfter(50_000)) - before).toBeLessThan(5_000_000);
  expect(signal.aborted).toBe(false);
});
