// The connection to one storage thread: sends messages, matches answers to them, and fails
// everything when the thread ends.
import type { Worker } from 'node:worker_threads';

import { Internal, Unavailable } from '@tidemark/core';
import { startThread } from '@tidemark/process';
import { BodyBuffers } from '@tidemark/storage-api';
import type { StorageLog } from '@tidemark/storage-api';

import { SentPlans } from './carried-plans.ts';
import { errorFromMessage } from './errors.ts';
import type { ErrorMessage } from './errors.ts';
import { Outbox } from './outbox.ts';
import { packWrites, unpackOutcomes } from './small-writes.ts';
import type { SmallWrite } from './small-writes.ts';
import type { FromThread, ThreadData, ThreadOptions, ToThread } from './protocol.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { SchemaCache } from './schema-cache.ts';

type Call = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/** Handles the answer to a request, in one or several messages. */
export type StreamHandler = {
  onAnswer?(message: FromThread & { kind: 'answer' }): void;
  onBatches?(message: FromThread & { kind: 'batches' }): void;
  /** The request waits until it may hold this much memory. */
  onAsk?(sizeBytes: number): void;
  onError(error: Error): void;
};

export type ConnectionEvents = {
  readonly log: StorageLog;
  /** Called when the thread ends without having been closed. */
  readonly onLost: (reason: Error) => void;
};

/**
 * Size of the thread's young generation. Rows are in typed arrays outside V8's heap, so a larger
 * one (V8 chooses 48 MiB on large machines) would only keep garbage longer.
 */
const YOUNG_GENERATION_MIB = 12;

export class Connection {
  readonly #worker: Worker;
  readonly #events: ConnectionEvents;
  readonly schemaVersions: SchemaVersions;
  /** Answers to schema look-ups of this thread. */
  readonly schemas: SchemaCache;
  readonly bodies = new BodyBuffers();
  /** Plans that this thread was sent. */
  readonly plans = new SentPlans();
  readonly #calls = new Map<number, Call>();
  readonly #streams = new Map<number, StreamHandler>();
  readonly #outbox: Outbox<ToThread | SmallWrite>;
  #nextId = 1;
  #lost: Error | undefined;
  #isClosing = false;

  private constructor(worker: Worker, schemaVersions: SchemaVersions, events: ConnectionEvents) {
    this.#worker = worker;
    this.#outbox = new Outbox((messages, transfer) =>
      worker.postMessage(packWrites<ToThread>(messages), transfer),
    );
    this.schemaVersions = schemaVersions;
    this.schemas = new SchemaCache(schemaVersions);
    this.#events = events;
  }

  /** Starts the thread. Resolves when the engine is open. */
  static open(options: ThreadOptions, events: ConnectionEvents): Promise<Connection> {
    const schemaVersions = new SchemaVersions();
    const workerData: ThreadData = { options, schemaVersions: schemaVersions.counters };
    const worker = startThread(import.meta.url, 'host', {
      workerData,
      name: 'storage',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    const connection = new Connection(worker, schemaVersions, events);
    return new Promise((resolve, reject) => {
      let isOpen = false;
      let reason: Error | undefined;
      const take = (message: FromThread): void => {
        if (message.kind === 'opened') {
          isOpen = true;
          resolve(connection);
        } else if (message.kind === 'open-failed') {
          connection.#isClosing = true;
          reject(errorFromMessage(message.error));
          // The thread runs nothing, so nobody has to wait for its end.
          void worker.terminate();
        } else if (message.kind === 'broken') reason = brokenBy(message.error);
        else connection.#handle(message);
      };
      worker.on('message', (messages: readonly FromThread[]) => messages.forEach(take));
      worker.on('error', (cause) => {
        const error = cause instanceof Error ? cause : new Internal(String(cause), { cause });
        reason = error;
        if (!isOpen) reject(error);
      });
      worker.on('exit', (code) => {
        const ended = reason ?? new Unavailable(`storage thread ended. code=${code}`);
        // A thread that ends before the engine is open makes `open` fail.
        if (isOpen) connection.#end(ended);
        else reject(ended);
      });
    });
  }

  nextId(): number {
    return this.#nextId++;
  }

  post(message: ToThread): void {
    if (this.#lost === undefined) this.#outbox.send(message);
  }

  /** Sends a message together with the next one, or after a short time. */
  postLater(message: ToThread): void {
    if (this.#lost === undefined) this.#outbox.sendLater(message);
  }

  call(
    make: (id: number) => ToThread | SmallWrite,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(new Unavailable('storage thread has ended', { cause: this.#lost }));
        return;
      }
      const id = this.nextId();
      this.#calls.set(id, { resolve, reject });
      // One alone has nothing to wait for.
      if (this.#calls.size === 1) this.#outbox.send(make(id), transfer);
      else this.#outbox.sendSoon(make(id), transfer);
    });
  }

  stream(handler: StreamHandler, make: (id: number) => ToThread): number {
    const id = this.nextId();
    if (this.#lost !== undefined) {
      handler.onError(new Unavailable('storage thread has ended', { cause: this.#lost }));
      return id;
    }
    this.#streams.set(id, handler);
    this.post(make(id));
    return id;
  }

  /** Ends a stream: its handler gets no more messages, and the thread stops working on it. */
  cancel(id: number): void {
    if (this.#streams.delete(id)) this.post({ kind: 'cancel', id });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    try {
      await this.call((id) => ({ kind: 'close', id }));
    } finally {
      await this.#worker.terminate();
    }
  }

  #handle(message: FromThread): void {
    switch (message.kind) {
      case 'result': {
        const call = this.#calls.get(message.id);
        this.#calls.delete(message.id);
        if (message.lent !== undefined) this.bodies.giveBack(message.lent);
        call?.resolve(message.value);
        break;
      }
      case 'all-written':
        for (const [id, outcome] of unpackOutcomes(message)) {
          this.#calls.get(id)?.resolve(outcome);
          this.#calls.delete(id);
        }
        break;
      case 'failed': {
        const error = errorFromMessage(message.error);
        this.#calls.get(message.id)?.reject(error);
        this.#streams.get(message.id)?.onError(error);
        this.#calls.delete(message.id);
        this.#streams.delete(message.id);
        break;
      }
      case 'batches': {
        const stream = this.#streams.get(message.id);
        if (message.isLast) this.#streams.delete(message.id);
        stream?.onBatches?.(message);
        break;
      }
      case 'ask':
        this.#streams.get(message.id)?.onAsk?.(message.sizeBytes);
        break;
      case 'answer': {
        const stream = this.#streams.get(message.id);
        this.#streams.delete(message.id);
        stream?.onAnswer?.(message);
        break;
      }
      case 'log':
        this.#events.log(message.level, message.message, message.details);
        break;
      case 'opened':
      case 'open-failed':
      case 'broken':
        break;
    }
  }

  #end(reason: Error): void {
    this.#lost = reason;
    this.#outbox.clear();
    this.bodies.clear();
    const error = new Unavailable('storage thread ended before the answer', { cause: reason });
    for (const call of this.#calls.values()) call.reject(error);
    for (const stream of this.#streams.values()) stream.onError(error);
    this.#calls.clear();
    this.#streams.clear();
    if (!this.#isClosing) this.#events.onLost(reason);
  }
}

/** The failed assertion, with the stack that it had in the thread. */
function brokenBy({ message, stack }: ErrorMessage): Internal {
  const error = new Internal(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
