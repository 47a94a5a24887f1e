// Progress on standard error: a bar on a terminal, silence elsewhere.
import { SingleBar } from 'cli-progress';

import type { ImportProgress } from '../import-server/import-server.ts';
import { humanBytes } from './table.ts';

/** A bar on standard error when that is a terminal. */
function barOnTerminal(format: string): SingleBar | undefined {
  return process.stderr.isTTY
    ? new SingleBar({ format, formatTime: formatSeconds, stream: process.stderr, hideCursor: true })
    : undefined;
}

/** `75` as `1m 15s`; empty if the time is unknown: the bar then calls it `NULL` or `INF`. */
export function formatSeconds(seconds: unknown): string {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return '';
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${Math.floor(seconds % 60)}s` : `${Math.floor(seconds)}s`;
}

/** Progress of work measured in bytes. */
export type ByteProgress = {
  readonly doneBytes: number;
  /** 0 while unknown. */
  readonly totalBytes: number;
  /** The current file. */
  readonly file?: string | undefined;
};

/** Runs `work` and draws its progress. */
export async function withByteBar<T>(
  label: string,
  work: (onProgress: (progress: ByteProgress) => void) => Promise<T>,
): Promise<T> {
  const bar = barOnTerminal(`${label} [{bar}] {percentage} % of {all} {eta_formatted} {file}`);
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

/** Runs an import or export and draws its current piece. */
export async function withStepBar<T>(
  work: (onProgress: (progress: ImportProgress) => void) => Promise<T>,
): Promise<T> {
  const bar = barOnTerminal('[{bar}] {value}/{total} {label} {points} points {eta_formatted}');
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

/** Work in progress on a server. */
export type Progressing = {
  readonly status: 'running' | 'failed' | 'finished';
  readonly progress: number;
  readonly error: string;
};

const POLL_MS = 250;

/**
 * Polls until the work has ended; draws a bar if standard error is a terminal. Ctrl-C ends the
 * waiting, not the work: the state is then still `running`.
 */
export async function waitWithProgress<T extends Progressing>(
  label: string,
  poll: () => Promise<T>,
): Promise<T> {
  const bar = barOnTerminal(`${label} [{bar}] {percentage} % {duration_formatted}`);
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
