// Waiting for work on a server: a bar on a terminal, silence elsewhere.
import { SingleBar } from 'cli-progress';

/** Something that a server works on. */
export type Progressing = {
  readonly status: 'running' | 'failed' | 'finished';
  readonly progress: number;
  readonly error: string;
};

const POLL_MS = 250;

/** Polls until the work is not running any more; draws a bar when standard error is a terminal. */
export async function waitWithProgress<T extends Progressing>(
  label: string,
  poll: () => Promise<T>,
): Promise<T> {
  const bar = process.stderr.isTTY
    ? new SingleBar({
        format: `${label} [{bar}] {percentage} % {duration_formatted}`,
        stream: process.stderr,
        hideCursor: true,
      })
    : undefined;
  bar?.start(1, 0);
  try {
    for (;;) {
      const state = await poll();
      bar?.update(state.progress);
      if (state.status !== 'running') return state;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    bar?.stop();
  }
}
