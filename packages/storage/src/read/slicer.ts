// Runs generators in slices: a few milliseconds of work, then the event loop gets its turn, so that writes and other
// requests go on. Cancellation is noticed at the next pause point.
import { Cancelled } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

export type SliceOptions = {
  readonly clock: Clock;
  readonly sliceMs: number;
  readonly signal: AbortSignal;
};

/** Values of the generator; `undefined` marks a place where it may pause. */
export async function* sliced<T>(
  work: Generator<T | undefined>,
  options: SliceOptions,
): AsyncGenerator<T> {
  const { clock, sliceMs, signal } = options;
  let sliceEnd = clock.monotonicMs() + sliceMs;
  try {
    for (;;) {
      if (signal.aborted) throw new Cancelled('request was cancelled', { cause: signal.reason });
      const step = work.next();
      if (step.done === true) return;
      if (step.value !== undefined) yield step.value;
      if (clock.monotonicMs() < sliceEnd) continue;
      await new Promise<void>((resolve) => setImmediate(resolve));
      sliceEnd = clock.monotonicMs() + sliceMs;
    }
  } finally {
    work.return(undefined);
  }
}
