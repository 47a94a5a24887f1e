// Runs work of the storage thread in slices of some milliseconds, so that writes and other requests
// get their turns; work that holds more memory than it was granted waits.
import type { Operator } from '@tidemark/query';

import { withAdvice } from '../damage.ts';
import type { Turns } from '../schedule/turns.ts';
import { cancelledBy } from './cancelled.ts';
import type { RequestMemory } from './request-memory.ts';

export type SliceOptions = {
  readonly turns: Turns;
  readonly signal: AbortSignal;
  readonly memory: RequestMemory;
};

/**
 * Yields the same batches. Where the work gives others a turn and its slice is used up, waits for
 * the next turn.
 */
export function* sliced<T>(
  work: Operator<T>,
  { turns, signal, memory }: SliceOptions,
): Operator<T> {
  let usedMs = 0;
  try {
    for (;;) {
      if (turns.isOver) yield turns.enter('query', usedMs);
      if (signal.aborted) throw cancelledBy(signal);
      const beganMs = turns.nowMs;
      const step = work.next();
      usedMs += turns.nowMs - beganMs;
      if (step.done === true) return;
      if (memory.isAsking) yield* memory.admit();
      if (step.value !== undefined) yield step.value;
    }
  } catch (error) {
    throw withAdvice(error);
  } finally {
    work.return();
  }
}
