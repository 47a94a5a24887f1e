// The storage thread: opens the engine and serves it to the thread that started it.
import { parentPort, threadId, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';

import { assert, AssertionFailed, systemClock } from '@tidemark/core';
import { collectWhenIdle } from '@tidemark/process';
import type { StorageLog } from '@tidemark/storage-api';

import { ReadKernels } from '../columns/read-kernels.ts';
import { memoryDisk } from '../disk/memory-disk.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import { LIMITS } from '../limits.ts';
import type { EngineReaders, ReadEngine } from '../read/leased-read.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { serveEngine } from './engine-server.ts';
import { errorToMessage } from './errors.ts';
import type { FromThread, ThreadData } from './protocol.ts';
import { Readers } from './readers.ts';
import { startReader } from './start-reader.ts';

assert(parentPort !== null, 'runs in a thread');
const threadPort = parentPort;
const { options, ring, schemaVersions } = workerData as ThreadData;
const versions = new SchemaVersions(schemaVersions);
/** The rehearsal uses the same kernels, so that code that V8 has compiled for it fits later. */
const { queryThreads = 0, readerRowsMin = LIMITS.readerRows.value } = options;
/** The caches of the threads are shares of one budget. */
const columnCacheBytes =
  (options.columnCacheBytes ?? LIMITS.columnCacheBytes.value) / (1 + queryThreads);
const kernels = new ReadKernels(columnCacheBytes);
let hasRehearsal = false;
collectWhenIdle();

function send(message: FromThread): void {
  threadPort.postMessage([message]);
}

/**
 * Ends the thread when an assertion has failed: its memory cannot be trusted, so it must not answer
 * any more. The other side opens the directory again, from the log.
 */
function endIfBroken(error: unknown): void {
  if (!(error instanceof AssertionFailed)) return;
  send({ kind: 'broken', error: errorToMessage(error) });
  process.exit(1);
}

/** Opens a second engine, with its data in memory. */
async function openRehearsal(port: MessagePort, ringOf: SharedArrayBuffer): Promise<void> {
  assert(!hasRehearsal, 'one rehearsal at a time');
  hasRehearsal = true;
  const memory = { directory: '/rehearsal', hasBackgroundWork: false };
  const shared = { disk: memoryDisk(), schemaVersions: versions, kernels };
  const engine = await openStorageInline(memory, shared);
  const onClose = (): void => {
    hasRehearsal = false;
  };
  serveEngine({ ...SERVER, engine, port, ring: ringOf, onClose });
}

const SERVER = { clock: systemClock(), versions, endIfBroken, openRehearsal };

/** A reader ends with this thread, before the directory is opened again. */
function makeReaders({ directory, leases }: ReadEngine): EngineReaders {
  return new Readers({
    start: (onMessage, onEnd) =>
      startReader({ directory, columnCacheBytes, queryThreads }, onMessage, onEnd),
    leases,
    // Numbers of threads ascend.
    generation: threadId,
    rowsMin: readerRowsMin,
    idleMs: LIMITS.readerIdleMs.value,
  });
}

/** A function, because the bundle does not allow `await` at the top level. */
async function open(): Promise<void> {
  try {
    const log: StorageLog = (level, message, details) => {
      const error = details?.['error'];
      // Background work has no caller to fail: it logs errors and goes on.
      endIfBroken(error);
      const plain = error === undefined ? details : { ...details, error: String(error) };
      send({ kind: 'log', level, message, details: plain });
    };
    const fault = (point: string): void =>
      assert(point !== options.failsAt, `no fault at ${point}`);
    const readers = queryThreads === 0 ? undefined : makeReaders;
    const shared = { schemaVersions: versions, kernels, fault, readers };
    const engine = await openStorageInline({ ...options, log }, shared);
    serveEngine({ ...SERVER, engine, port: threadPort, ring });
    send({ kind: 'opened' });
  } catch (error) {
    send({ kind: 'open-failed', error: errorToMessage(error) });
  }
}

// This promise never rejects: a failure is sent as a message.
void open();
