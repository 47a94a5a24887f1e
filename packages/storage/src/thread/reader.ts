// The thread of a reader (docs/adr/0034-readers.md).
import { parentPort, workerData } from 'node:worker_threads';

import { assert, AssertionFailed, systemClock } from '@tidemark/core';
import { collectWhenIdle } from '@tidemark/process';

import { ReadKernels } from '../columns/read-kernels.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { sharedPool } from '../engine/open-inline.ts';
import { LIMITS } from '../limits.ts';
import { ReaderServer } from './reader-server.ts';
import type { ReaderData } from './start-reader.ts';

assert(parentPort !== null, 'runs in a thread');
const port = parentPort;
const { directory, columnCacheBytes, queryThreads } = workerData as ReaderData;
collectWhenIdle();

const server = new ReaderServer({
  disk: nodeDisk(sharedPool({ queryThreads })),
  directory,
  kernels: new ReadKernels(columnCacheBytes),
  clock: systemClock(),
  sliceMs: LIMITS.sliceMs.value,
  post: (message, transfer = []) => port.postMessage(message, [...transfer]),
  // Its memory cannot be trusted, so it must not answer any more.
  onError: (error) => {
    if (error instanceof AssertionFailed) throw error;
  },
});
port.on('message', (message: Parameters<ReaderServer['handle']>[0]) => server.handle(message));
