// A task host in a thread of this process.
import { messageOf } from '@tidemark/core';
import { startThread } from '@tidemark/process';
import type { Worker } from 'node:worker_threads';
import type { HostLink, HostLinkEvents, RowsForTasks, ToHostMessage } from './host-link.ts';
import type { FromHost, HostData, RowsEntry, ToHost } from './protocol.ts';
import { StatusCell } from './protocol.ts';
import { RowsSender } from './rows-sender.ts';

export type ThreadLinkOptions = Pick<HostData, 'functions' | 'server'> & {
  readonly name: string;
  /** Heap of the thread in MiB; 0 leaves it to the platform. */
  readonly memoryMiB: number;
};

/** A host of this process, which also takes rows from other processes. */
export interface LocalHostLink extends HostLink {
  /** Rows that were packed elsewhere, without numbers for series. */
  postPacked(entries: readonly RowsEntry[]): void;
}

/** Opens hosts of this process. */
export type OpenLocalHost = (options: ThreadLinkOptions, events: HostLinkEvents) => LocalHostLink;

/** In a thread. */
export const openThread: OpenLocalHost = (options, events) => new ThreadLink(options, events);

export class ThreadLink implements LocalHostLink {
  readonly #worker: Worker;
  readonly #status = new Int32Array(new SharedArrayBuffer(StatusCell.Count * 4));
  readonly #rows = new RowsSender();
  readonly #ended: Promise<void>;
  #isEnded = false;

  constructor(options: ThreadLinkOptions, events: HostLinkEvents) {
    const { functions, server, name, memoryMiB } = options;
    const data: HostData = {
      status: this.#status.buffer as SharedArrayBuffer,
      functions,
      server,
    };
    this.#worker = startThread(import.meta.url, 'host-thread', {
      workerData: data,
      name,
      ...(memoryMiB > 0 ? { resourceLimits: { maxOldGenerationSizeMb: memoryMiB } } : {}),
    });
    let failure: string | undefined;
    this.#worker.on('message', (message: FromHost) => events.message(message));
    this.#worker.on('error', (error) => {
      failure = messageOf(error);
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#isEnded = true;
        const reason = failure ?? `thread ended with code ${code}`;
        events.ended({ reason, currentTask: this.currentTask, isOfLocation: false });
        resolve();
      });
    });
  }

  get currentTask(): number {
    return Atomics.load(this.#status, StatusCell.CurrentTask);
  }

  get work(): number {
    return Atomics.load(this.#status, StatusCell.Work);
  }

  post(message: ToHostMessage): void {
    this.#post(message, []);
  }

  postRows(rows: readonly RowsForTasks[]): void {
    const { message, buffers } = this.#rows.send(rows);
    this.#post(message, buffers);
  }

  postPacked(entries: readonly RowsEntry[]): void {
    const { message, buffers } = this.#rows.adopt(entries);
    this.#post(message, buffers);
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
    await this.#ended;
  }

  #post(message: ToHost, buffers: readonly ArrayBuffer[]): void {
    if (!this.#isEnded) this.#worker.postMessage(message, buffers);
  }
}
