// When a server counts as failed.
import { expect, test, vi } from 'vitest';

import { TEST_SETTINGS } from '../testing/test-storage.ts';
import { Unreachable } from './failure.ts';
import { HealthMonitor } from './health-monitor.ts';
import type { Probe } from './health-monitor.ts';

const OPTIONS = { clock: TEST_SETTINGS.clock, pingTimeoutMs: 400 };

/** Longer than a server may be silent. */
const SUSPENDED_MS = 900;

const SOON = { timeout: 20_000, interval: 20 };

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('no answer')), { once: true }),
  );

const monitorOf = (ask: Probe['ask']): HealthMonitor =>
  new HealthMonitor({ ask, failed: (reason) => `it is away: ${reason}` }, OPTIONS);

test('a server that is silent ends those who wait for it, and is waited for again later', async () => {
  let isSilent = true;
  const monitor = monitorOf((signal) => (isSilent ? ended(signal) : Promise.resolve()));
  const wait = monitor.wait();
  await vi.waitFor(() => expect(wait.signal.aborted).toBe(true), SOON);

  expect(wait.signal.reason).toBeInstanceOf(Unreachable);
  expect(() => monitor.wait()).toThrow('it is away: no answer');
  isSilent = false;
  await vi.waitFor(() => expect(monitor.wait().signal.aborted).toBe(false), SOON);
  await monitor.close();
});

test('the silence of a process that was suspended itself is not taken for that of the server', async () => {
  let asked = 0;
  const monitor = monitorOf((signal) => {
    if (++asked > 1) return Promise.resolve();
    // Nothing is read meanwhile, as in a process that is stopped; the timer fires first then.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SUSPENDED_MS);
    return ended(signal);
  });
  const wait = monitor.wait();
  await vi.waitFor(() => expect(asked).toBeGreaterThan(1), SOON);

  expect(wait.signal.aborted).toBe(false);
  expect(monitor.wait().signal.aborted).toBe(false);
  await monitor.close();
});
