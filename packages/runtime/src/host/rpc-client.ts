// RPC client of the engine for one task host: its thread, what is sent to it and what it answers.
import { startThread } from '@tidemark/process';
import type { Worker } from 'node:worker_threads';
import { Unavailable } from '@tidemark/core';
import { StartError } from '../node.ts';
import type { PointBatch } from '../point-batch.ts';
import type { BatchTaker } from '../running-task.ts';
import { appendMovable, BatchPacker } from './batch-codec.ts';
import type {
  Answers,
  FromHost,
  HostData,
  HostItem,
  RowsEntry,
  TaskRequest,
  ToHost,
} from './protocol.ts';
import { makesWork, StatusCell } from './protocol.ts';

type Call = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};

/** Rows that wait to be sent at the end of the present round of the event loop. */
type Waiting = {
  readonly batch: PointBatch;
  readonly tasks: number[];
  readonly dueOffset: bigint | undefined;
  isOurs: boolean;
};

export type HostEvents = {
  /** An item of the host; `undefined` marks the end of a message. */
  readonly item: (item: HostItem) => void;
  readonly taken: (task: number, rowCount: number) => void;
  readonly pong: (message: FromHost & { kind: 'pong' }) => void;
  /** The thread ended without being asked to. */
  readonly lost: (reason: string, currentTask: number) => void;
};

export type RpcClientOptions = Pick<HostData, 'functions' | 'server'> & {
  readonly name: string;
  /** Heap of the thread in MiB; 0 leaves it to the platform. */
  readonly memoryMiB: number;
  readonly events: HostEvents;
};

export class RpcClient implements BatchTaker {
  readonly #worker: Worker;
  readonly #events: HostEvents;
  readonly #status = new Int32Array(new SharedArrayBuffer(StatusCell.Count * 4));
  readonly #packer = new BatchPacker();
  readonly #calls = new Map<number, Call>();
  #waiting: Waiting[] = [];
  #nextId = 1;
  #sentCount = 0;
  #isEnding = false;
  #isUp = false;
  #lostReason: string | undefined;
  readonly #ended: Promise<void>;

  constructor(options: RpcClientOptions) {
    const { functions, server, name, memoryMiB } = options;
    this.#events = options.events;
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
    let failure: Error | undefined;
    this.#worker.on('message', (message: FromHost) => this.#handle(message));
    this.#worker.on('error', (error) => {
      failure = error;
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#end(failure?.message ?? `thread ended with code ${code}`);
        resolve();
      });
    });
  }

  /** It has told something: its program is loaded. */
  get isUp(): boolean {
    return this.#isUp;
  }

  get isLost(): boolean {
    return this.#lostReason !== undefined;
  }

  /** The task that the host works for at this moment; 0 is none. */
  get currentTask(): number {
    return Atomics.load(this.#status, StatusCell.CurrentTask);
  }

  /**
   * Moves whenever the host works, or is sent something to work on: while it stands still, so do
   * all counters.
   */
  get work(): number {
    return this.#sentCount + Atomics.load(this.#status, StatusCell.Work);
  }

  /** Queues rows for a task until the end of the present round of the event loop. */
  addRows(batch: PointBatch, task: number, dueOffset?: bigint): void {
    this.#sentCount++;
    const last = this.#waiting.at(-1);
    if (last?.batch === batch && last.dueOffset === dueOffset) {
      last.tasks.push(task);
      return;
    }
    if (this.#waiting.length === 0) setImmediate(() => this.#flushRows());
    this.#waiting.push({ batch, tasks: [task], dueOffset, isOurs: false });
  }

  takeOver(batch: PointBatch): void {
    for (const waiting of this.#waiting) if (waiting.batch === batch) waiting.isOurs = true;
  }

  /** Sends after everything that was sent or queued before. */
  send(message: ToHost): void {
    if (makesWork(message)) this.#sentCount++;
    this.#flushRows();
    this.#post(message, []);
  }

  /**
   * Rejects with `Unavailable` when the host ends before it answers, else with the reason that it
   * gives.
   */
  async request<N extends TaskRequest['name']>(
    task: number,
    request: Extract<TaskRequest, { name: N }>,
  ): Promise<Answers[N]> {
    if (this.#lostReason !== undefined) throw new Unavailable(this.#lostReason);
    const id = this.#nextId++;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
    });
    this.send({ kind: 'request', id, task, request });
    return (await answer) as Answers[N];
  }

  /** Ends the thread where it is. `lost` is called unless `isExpected`. */
  async terminate(options: {
    readonly isExpected: boolean;
    readonly reason?: string;
  }): Promise<void> {
    this.#isEnding ||= options.isExpected;
    this.#lostReason ??= options.reason;
    // Asked for before the end: afterwards nobody knows what the thread was doing.
    await this.#worker.terminate();
    await this.#ended;
  }

  #flushRows(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    const movable = new Set<ArrayBuffer>();
    const entries = waiting.map(({ batch, tasks, dueOffset, isOurs }): RowsEntry => {
      const packed = this.#packer.pack(batch);
      if (isOurs) appendMovable(packed, movable);
      return { batch: packed, tasks, dueOffset };
    });
    this.#post({ kind: 'rows', entries }, [...movable]);
  }

  #post(message: ToHost, movable: ArrayBuffer[]): void {
    if (this.#lostReason === undefined) this.#worker.postMessage(message, movable);
  }

  #handle(message: FromHost): void {
    this.#isUp = true;
    if (message.kind === 'pong') {
      this.#events.pong(message);
      return;
    }
    const { items, taken } = message;
    for (let i = 0; taken !== undefined && i < taken.length; i += 2) {
      this.#events.taken(taken[i] as number, taken[i + 1] as number);
    }
    for (const item of items) this.#item(item);
    if (items.length > 0) this.#post({ kind: 'handled', count: items.length }, []);
  }

  #item(item: HostItem): void {
    switch (item.kind) {
      case 'answer':
        this.#take(item.id)?.resolve(item.value);
        break;
      case 'fault':
        this.#take(item.id)?.reject(
          item.start === undefined
            ? new Error(item.message)
            : new StartError(item.message, item.start),
        );
        break;
      default:
        this.#events.item(item);
    }
  }

  #take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  #end(reason: string): void {
    this.#lostReason ??= reason;
    const currentTask = this.currentTask;
    for (const call of this.#calls.values()) call.reject(new Unavailable(this.#lostReason));
    this.#calls.clear();
    this.#waiting = [];
    if (!this.#isEnding) this.#events.lost(this.#lostReason, currentTask);
  }
}
