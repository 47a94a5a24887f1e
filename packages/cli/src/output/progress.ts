// Progress on standard error: a bar on a terminal, silence elsewhere.
import { SingleBar } from 'cli-progress';

import type { ImportProgress } from '../import-server/import-server.ts';
import { humanBytes } from './table.ts';

/** How far work that goes through bytes is. */
export type ByteProgress = {
  readonly doneBytes: number;
  /** 0 while it is not known. */
  readonly totalBytes: number;
  /** What is being worked on. */
  readonly file?: string | undefined;
};

/** Runs `work` and draws what it reports. */
export async function withByteBar<T>(
  label: string,
  work: (onProgress: (progress: ByteProgress) => void) => Promise<T>,
): Promise<T> {
  const bar = process.stderr.isTTY
    ? new SingleBar({
        format: `${label} [{bar}] {percentage} % of {all} {eta_formatted} {file}`,
        stream: process.stderr,
        hideCursor: true,
      })
    : undefined;
  bar?.start(1, 0, { all: '?', file: '' });
  try {
    return await work(({ doneBytes, totalBytes, file = '' }) => {
      bar?.setTotal(Math.max(1, totalBytes));
      bar?.update(doneBytes, { all: humanBytes(totalBytes), file });
    });
  } finally {
    bar?.stop();
  }
}

/** Runs an import or export and draws which of its pieces it has come to. */
export async function withStepBar<T>(
  work: (onProgress: (progress: ImportProgress) => void) => Promise<T>,
): Promise<T> {
  const bar = process.stderr.isTTY
    ? new SingleBar({
        format: '[{bar}] {value}/{total} {label} {points} points {eta_formatted}',
        stream: process.stderr,
      })
    : undefined;
  bar?.start(1, 0, { label: '', points: 0 });
  try {
    return await work(({ done, total, label, points }) => {
      bar?.setTotal(total);
      bar?.update(done, { label, points });
    });
  } finally {
    bar?.stop();
  }
}

/** Something that a server works on. */
export type Progressing = {
  readonly status: 'running' | 'failed' | 'finished';
  readonly progress: number;
  readonly error: string;
};

const POLL_MS = 250;

/**
 * Polls until the work is not running any more; draws a bar when standard error is a terminal. Ctrl-C ends the waiting,
 * not the work: the state is then still `running`.
 */
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
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt);
  bar?.start(1, 0);
  try {
    for (;;) {
      const state = await poll();
      bar?.update(state.progress);
      if (state.status !== 'running' || interrupted.signal.aborted) return state;
      await pauseUnless(interrupted.signal);
    }
  } finally {
    bar?.stop();
    process.off('SIGINT', interrupt);
  }
}

function pauseUnless(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, POLL_MS);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
