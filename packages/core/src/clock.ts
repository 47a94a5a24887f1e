// The only place outside `cli` that reads the machine's clocks; all other code gets a Clock.
import type { Timestamp } from './time.ts';

/** Wall time, monotonic time and timers. Tests pass a virtual one. */
export interface Clock {
  /** Wall time in nanoseconds since the epoch. May step backwards. */
  now(): Timestamp;
  /** Monotonic milliseconds with fractions, for measuring durations. */
  monotonicMs(): number;
  /** Resolves after `delayMs` of this clock, rejects with `signal.reason` when cancelled. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/**
 * The machine's clock. Wall time is the system's, refined to sub-millisecond steps by the monotonic
 * clock.
 */
export function systemClock(): Clock {
  return SYSTEM_CLOCK;
}

/** A single object: V8 specialises calls of a clock to one set of functions. */
const SYSTEM_CLOCK: Clock = {
  now: () => {
    const ms = performance.timeOrigin + performance.now();
    // The system clock wins when both disagree by more than a second (it was stepped).
    const wall = Math.abs(ms - Date.now()) > 1000 ? Date.now() : ms;
    const whole = Math.floor(wall);
    return BigInt(whole) * 1_000_000n + BigInt(Math.floor((wall - whole) * 1_000_000));
  },
  monotonicMs: () => performance.now(),
  sleep: async (delayMs, signal) => {
    let leftMs = delayMs;
    for (; leftMs > TIMER_MS_MAX; leftMs -= TIMER_MS_MAX) await waitFor(TIMER_MS_MAX, signal);
    await waitFor(leftMs, signal);
  },
};

/** Node's timers fire at once for longer delays. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

function waitFor(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
