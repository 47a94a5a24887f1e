// A storage thread, from its start to its end, and the connections to its engines.
import { MessageChannel } from 'node:worker_threads';
import type { Worker } from 'node:worker_threads';

import { Internal, Unavailable } from '@tidemark/core';
import { startThread } from '@tidemark/process';
import { BodyBuffers } from '@tidemark/storage-api';
import type { StorageEngine, StorageLog } from '@tidemark/storage-api';

import { SchemaVersions } from '../series/schema-version.ts';
import { Connection } from './connection.ts';
import type { ConnectionOptions } from './connection.ts';
import { errorFromMessage } from './errors.ts';
import type { ErrorMessage } from './errors.ts';
import type { FromEngine, FromThread, ThreadData, ThreadOptions } from './protocol.ts';
import { remoteEngine } from './remote-engine.ts';
import { ringMemory } from './write-ring.ts';

export type ThreadEvents = {
  readonly log: StorageLog;
  /** Called when the thread ends without having been closed. */
  readonly onLost: (reason: Error) => void;
};

/**
 * Size of the thread's young generation. Rows are in typed arrays outside V8's heap, so a larger
 * one (V8 chooses 48 MiB on large machines) would only keep garbage longer.
 */
const YOUNG_GENERATION_MIB = 12;

export class StorageThread {
  readonly #worker: Worker;
  readonly #versions: SchemaVersions;
  readonly connection: Connection;
  #isClosing = false;

  private constructor(worker: Worker, options: ConnectionOptions) {
    this.#worker = worker;
    this.#versions = options.versions;
    this.connection = new Connection(worker, options);
  }

  /** Resolves when the engine is open. */
  static open(
    options: ThreadOptions,
    bodies: BodyBuffers,
    { log, onLost }: ThreadEvents,
  ): Promise<StorageThread> {
    const versions = new SchemaVersions();
    const ring = ringMemory();
    const workerData: ThreadData = { options, ring, schemaVersions: versions.counters };
    const worker = startThread(import.meta.url, 'host', {
      workerData,
      name: 'storage',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    const thread = new StorageThread(worker, { versions, bodies, ring });
    return new Promise((resolve, reject) => {
      let isOpen = false;
      let reason: Error | undefined;
      const take = (message: FromThread): void => {
        switch (message.kind) {
          case 'opened':
            isOpen = true;
            resolve(thread);
            break;
          case 'open-failed':
            reject(errorFromMessage(message.error));
            // The thread runs nothing, so nobody has to wait for its end.
            void worker.terminate();
            break;
          case 'broken':
            reason = brokenBy(message.error);
            break;
          case 'log':
            log(message.level, message.message, message.details);
            break;
          default:
            thread.connection.handle(message);
        }
      };
      worker.on('message', (messages: readonly FromThread[]) => messages.forEach(take));
      worker.on('error', (cause) => {
        reason = cause instanceof Error ? cause : new Internal(String(cause), { cause });
      });
      worker.on('exit', (code) => {
        const ended = reason ?? new Unavailable(`storage thread ended. code=${code}`);
        // A thread that ends before the engine is open makes `open` fail.
        if (!isOpen) return reject(ended);
        thread.connection.end(ended);
        if (!thread.#isClosing) onLost(ended);
      });
    });
  }

  /** Opens a second engine with its data in memory (`Storage.openRehearsal`). */
  async openRehearsal(): Promise<StorageEngine> {
    const { port1, port2 } = new MessageChannel();
    const bodies = new BodyBuffers();
    const ring = ringMemory();
    const connection = new Connection(port1, { versions: this.#versions, bodies, ring });
    port1.on('message', (messages: readonly FromEngine[]) => {
      for (const message of messages) connection.handle(message);
    });
    // The thread has ended, or has closed the engine.
    port1.on('close', () => connection.end(new Unavailable('the rehearsal is over')));
    await this.connection.request(
      (id) => ({ kind: 'open-rehearsal', id, port: port2, ring }),
      [port2],
    );
    const engine = remoteEngine(() => connection, bodies);
    return {
      ...engine,
      close: async () => {
        await engine.close();
        port1.close();
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    try {
      await this.connection.call('close', []);
    } finally {
      await this.#worker.terminate();
    }
  }
}

/** The failed assertion, with the stack that it had in the thread. */
function brokenBy({ message, stack }: ErrorMessage): Internal {
  const error = new Internal(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
