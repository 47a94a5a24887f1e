// Runs generators in slices: a few milliseconds of work, then writes and other requests get their turn. Cancellation is
// noticed at the next pause point.
import { withAdvice } from '../damage.ts';
import type { Turns } from '../engine/turns.ts';
import { cancelledBy } from './cancelled.ts';

export type SliceOptions = { readonly turns: Turns; readonly signal: AbortSignal };

/** Values of the generator; `undefined` marks a place where it may pause. */
export async function* sliced<T>(
  work: Generator<T | undefined>,
  { turns, signal }: SliceOptions,
): AsyncGenerator<T> {
  try {
    for (;;) {
      if (turns.isOver) await turns.enter('query');
      if (signal.aborted) throw cancelledBy(signal);
      const step = work.next();
      if (step.done === true) return;
      if (step.value !== undefined) yield step.value;
    }
  } catch (error) {
    throw withAdvice(error);
  } finally {
    work.return(undefined);
  }
}
