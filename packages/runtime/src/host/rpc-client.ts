// The engine's RPC client for one task host.
import { messageOf, Unavailable } from '@tidemark/core';
import { StartError } from '../node.ts';
import type { PointBatch } from '../point-batch.ts';
import type { BatchTaker, Due } from '../running-task.ts';
import type { HostEnd, HostLink, HostLinkEvents, ToHostMessage } from './host-link.ts';
import type { Answers, FromHost, HostItem, TaskRequest } from './protocol.ts';
import { makesWork } from './protocol.ts';

type Call = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};

/** Rows that wait to be sent at the end of the present round of the event loop. */
type Waiting = {
  readonly batch: PointBatch;
  readonly tasks: number[];
  readonly due: Due | undefined;
  isOurs: boolean;
};

export type HostEvents = {
  /** An item of the host; `undefined` marks the end of a message. */
  readonly item: (item: HostItem) => void;
  readonly taken: (task: number, rowCount: number) => void;
  readonly pong: (message: FromHost & { kind: 'pong' }) => void;
  /** The host ended unexpectedly. */
  readonly lost: (end: HostEnd) => void;
};

export class RpcClient implements BatchTaker {
  readonly #link: HostLink;
  readonly #events: HostEvents;
  readonly #calls = new Map<number, Call>();
  #waiting: Waiting[] = [];
  readonly #kept = new WeakSet<PointBatch>();
  #nextId = 1;
  #sentCount = 0;
  #isEnding = false;
  #isUp = false;
  #lostReason: string | undefined;

  constructor(open: (events: HostLinkEvents) => HostLink, events: HostEvents) {
    this.#events = events;
    this.#link = open({
      message: (message) => this.#handle(message),
      ended: (end) => this.#end(end),
    });
  }

  /** Whether it has sent a message: its program is loaded. */
  get isUp(): boolean {
    return this.#isUp;
  }

  get isLost(): boolean {
    return this.#lostReason !== undefined;
  }

  /** Why its host was lost, as the error of requests to it. */
  get loss(): Unavailable | undefined {
    return this.#lostReason === undefined ? undefined : new Unavailable(this.#lostReason);
  }

  /**
   * Changes whenever the host works, or is sent work: while it stays the same, so do all counters.
   */
  get work(): number {
    return this.#sentCount + this.#link.work;
  }

  /** Queues rows for a task until the end of the present round of the event loop. */
  addRows(batch: PointBatch, task: number, due?: Due): void {
    this.#sentCount++;
    const last = this.#waiting.at(-1);
    if (last?.batch === batch && isSame(last.due, due)) {
      last.tasks.push(task);
      return;
    }
    if (this.#waiting.length === 0) setImmediate(() => this.#flushRows());
    this.#waiting.push({ batch, tasks: [task], due, isOurs: false });
  }

  keep(batch: PointBatch): void {
    this.#kept.add(batch);
  }

  release(batch: PointBatch): void {
    this.#kept.delete(batch);
  }

  takeOver(batch: PointBatch): void {
    for (const waiting of this.#waiting) if (waiting.batch === batch) waiting.isOurs = true;
  }

  /** Sends after everything that was sent or queued before. */
  send(message: ToHostMessage): void {
    if (makesWork(message)) this.#sentCount++;
    this.#flushRows();
    this.#post(message);
  }

  /** Rejects with `Unavailable` when the host ends before it answers, otherwise with its reason. */
  async request<N extends TaskRequest['name']>(
    task: number,
    request: Extract<TaskRequest, { name: N }>,
  ): Promise<Answers[N]> {
    const { loss } = this;
    if (loss !== undefined) throw loss;
    const id = this.#nextId++;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
    });
    this.send({ kind: 'request', id, task, request });
    return (await answer) as Answers[N];
  }

  /** Ends the host at once. `lost` is called unless `isExpected`. */
  async terminate(options: {
    readonly isExpected: boolean;
    readonly reason?: string;
  }): Promise<void> {
    this.#isEnding ||= options.isExpected;
    this.#lostReason ??= options.reason;
    await this.#link.terminate();
  }

  #flushRows(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    if (this.#lostReason !== undefined) return;
    try {
      this.#link.postRows(waiting.map((rows) => ({ ...rows, isKept: this.#kept.has(rows.batch) })));
    } catch (error) {
      // States of tasks that lack points must not be saved: the tasks go on from earlier ones.
      const reason = `points cannot be sent: ${messageOf(error)}`;
      void this.terminate({ isExpected: false, reason }); // Never rejects.
    }
  }

  #post(message: ToHostMessage): void {
    if (this.#lostReason === undefined) this.#link.post(message);
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
    if (items.length > 0) this.#post({ kind: 'handled', count: items.length });
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

  #end(end: HostEnd): void {
    this.#lostReason ??= end.reason;
    for (const call of this.#calls.values()) call.reject(new Unavailable(this.#lostReason));
    this.#calls.clear();
    this.#waiting = [];
    if (!this.#isEnding) this.#events.lost({ ...end, reason: this.#lostReason });
  }
}

function isSame(a: Due | undefined, b: Due | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return 'at' in a ? 'at' in b && a.at === b.at : 'offset' in b && a.offset === b.offset;
}
