// The proxy's end of one storage thread: sends messages, matches answers, and ends everything when the thread ends.
import { Worker } from 'node:worker_threads';

import { Unavailable } from '@tidemark/core';
import type { SourceCounters } from '@tidemark/query';

import type { StorageLog } from '../options.ts';
import { errorFromMessage } from './errors.ts';
import type { FromThread, StreamBatch, ThreadOptions, ToThread } from './protocol.ts';

type Call = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

export type StreamHandler = {
  onBatches(batches: readonly StreamBatch[], isLast: boolean, counters: SourceCounters): void;
  onError(error: Error): void;
};

export type ConnectionEvents = {
  readonly log: StorageLog;
  /** The thread ended without being closed. */
  readonly onLost: (reason: Error) => void;
};

const BOOT = new URL('../../boot.mjs', import.meta.url);
// The host lies beside this file, as source or as build.
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './host.ts' : './host.js', import.meta.url);

export class Connection {
  readonly #worker: Worker;
  readonly #events: ConnectionEvents;
  readonly #calls = new Map<number, Call>();
  readonly #streams = new Map<number, StreamHandler>();
  #nextId = 1;
  #lost: Error | undefined;
  #isClosing = false;

  private constructor(worker: Worker, events: ConnectionEvents) {
    this.#worker = worker;
    this.#events = events;
  }

  /** Starts the thread; resolves when the engine is open. */
  static open(options: ThreadOptions, events: ConnectionEvents): Promise<Connection> {
    const worker = new Worker(BOOT, {
      workerData: { entry: ENTRY.href, options },
      name: 'storage',
    });
    const connection = new Connection(worker, events);
    return new Promise((resolve, reject) => {
      let isOpen = false;
      let reason: Error | undefined;
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'opened') {
          isOpen = true;
          resolve(connection);
        } else if (message.kind === 'open-failed') {
          connection.#isClosing = true;
          reject(errorFromMessage(message.error));
          // Nothing runs in it; its end is of no interest.
          void worker.terminate();
        } else connection.#handle(message);
      });
      worker.on('error', (error) => {
        reason = error;
        if (!isOpen) reject(error);
      });
      worker.on('exit', (code) => {
        const ended = reason ?? new Unavailable(`storage thread ended. code=${code}`);
        // One that never opened is the opener's failure, not a loss.
        if (isOpen) connection.#end(ended);
        else reject(ended);
      });
    });
  }

  nextId(): number {
    return this.#nextId++;
  }

  post(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#lost !== undefined) return;
    this.#worker.postMessage(message, [...transfer]);
  }

  call(make: (id: number) => ToThread, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(new Unavailable('storage thread has ended', { cause: this.#lost }));
        return;
      }
      const id = this.nextId();
      this.#calls.set(id, { resolve, reject });
      this.post(make(id), transfer);
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

  /** No more messages of the stream are delivered; the thread stops working on it. */
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
        call?.resolve(message.value);
        break;
      }
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
        stream?.onBatches(message.batches, message.isLast, message.counters);
        break;
      }
      case 'log':
        this.#events.log(message.level, message.message, message.details);
        break;
      case 'opened':
      case 'open-failed':
        break;
    }
  }

  #end(reason: Error): void {
    this.#lost = reason;
    const error = new Unavailable('storage thread ended before the answer', { cause: reason });
    for (const call of this.#calls.values()) call.reject(error);
    for (const stream of this.#streams.values()) stream.onError(error);
    this.#calls.clear();
    this.#streams.clear();
    if (!this.#isClosing) this.#events.onLost(reason);
  }
}
