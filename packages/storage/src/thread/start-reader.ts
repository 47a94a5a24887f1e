// Starts the thread of a reader (`reader.ts`), in the storage thread: it cannot outlive that.
import { Internal, Unavailable } from '@tidemark/core';
import { startThread } from '@tidemark/process';

import type { StorageOptions } from '../options.ts';
import type { FromReader, Generated, RunningReader } from './readers.ts';

export type ReaderData = Pick<StorageOptions, 'queryThreads'> & {
  /** The engine's. */
  readonly directory: string;
  /** Its own share. */
  readonly columnCacheBytes: number;
};

/** As that of the storage thread. */
const YOUNG_GENERATION_MIB = 12;

/** Starts a thread. `onEnd` is called when it has ended without having been asked to. */
export function startReader(
  workerData: ReaderData,
  onMessage: (message: Generated<FromReader>) => void,
  onEnd: (reason: Error) => void,
): RunningReader {
  const worker = startThread(import.meta.url, 'reader', {
    workerData,
    name: 'reader',
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
  });
  let reason: Error | undefined;
  let isEnding = false;
  worker.on('message', onMessage);
  worker.on('error', (cause) => {
    reason = cause instanceof Error ? cause : new Internal(String(cause), { cause });
  });
  worker.on('exit', (code) => {
    if (!isEnding) onEnd(reason ?? new Unavailable(`reader ended. code=${code}`));
  });
  return {
    post: (message) => worker.postMessage(message),
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
}
