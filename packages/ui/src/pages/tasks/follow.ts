// Follows streams of lines, such as a tap or a log. The newest lines are kept, and streams stop
// when nothing shows them.
import { useSignal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { parseLossless } from '@tidemark/client';
import { useEffect } from 'preact/hooks';

import { linesOf } from '../../api/lines.ts';
import { isAbort, problemOf } from '../../api/problem.ts';
import type { Problem } from '../../api/problem.ts';

const KEPT_MAX = 500;
/** Display interval: quick enough to look live, rare enough for a flood. */
const SHOWN_EVERY_MS = 200;

export type Followed = {
  readonly lines: ReadonlySignal<readonly unknown[]>;
  /** Total number of lines received. */
  readonly count: ReadonlySignal<number>;
  readonly problem: ReadonlySignal<Problem | undefined>;
  readonly hasEnded: ReadonlySignal<boolean>;
};

/**
 * Follows a stream while it is wanted; `inputs` are its dependencies. A paused stream is not read.
 */
export function useFollowed(
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>,
  inputs: readonly unknown[],
  isPaused: boolean,
): Followed {
  const lines = useSignal<readonly unknown[]>([]);
  const count = useSignal(0);
  const problem = useSignal<Problem | undefined>(undefined);
  const hasEnded = useSignal(false);
  useEffect(() => {
    lines.value = [];
    count.value = 0;
  }, inputs);
  useEffect(() => {
    if (isPaused) return undefined;
    const controller = new AbortController();
    let waiting: unknown[] = [];
    const show = (): void => {
      if (waiting.length === 0) return;
      count.value += waiting.length;
      lines.value = [...waiting.toReversed(), ...lines.value].slice(0, KEPT_MAX);
      waiting = [];
    };
    const timer = window.setInterval(show, SHOWN_EVERY_MS);
    const follow = async (): Promise<void> => {
      problem.value = undefined;
      hasEnded.value = false;
      for await (const line of linesOf(await open(controller.signal))) {
        waiting.push(parseLossless(line));
        if (waiting.length > KEPT_MAX) show();
      }
      show();
      hasEnded.value = true;
    };
    follow().catch((error: unknown) => {
      if (!controller.signal.aborted && !isAbort(error)) problem.value = problemOf(error);
    });
    return () => {
      window.clearInterval(timer);
      controller.abort();
    };
  }, [...inputs, isPaused]);
  return { lines, count, problem, hasEnded };
}
