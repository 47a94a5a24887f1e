// A task host without a thread: the real code, with messages in the order of virtual time.
import { messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { LocalHostLink } from '@tidemark/runtime/host';
import { RowsSender } from '../../../../packages/runtime/src/host/rows-sender.ts';
import type { RowsMessage } from '../../../../packages/runtime/src/host/rows-sender.ts';
import type {
  HostLinkEvents,
  RowsForTasks,
  ToHostMessage,
} from '../../../../packages/runtime/src/host/host-link.ts';
import { StatusCell } from '../../../../packages/runtime/src/host/protocol.ts';
import type {
  FromHost,
  RowsEntry,
  ToHost,
} from '../../../../packages/runtime/src/host/protocol.ts';
import { TaskHost } from '../../../../packages/runtime/src/host/task-host.ts';
import type { ThreadLinkOptions } from '../../../../packages/runtime/src/host/thread-link.ts';
import { enter } from './event-loop.ts';
import { copied } from './message-copy.ts';
import type { Owner } from './event-loop.ts';
import type { ProcessClock } from './timeline.ts';

/** Why a host ends that is let fail. */
export const CRASH = 'out of memory';

/** The process of a host. */
export type HostProcess = {
  readonly clock: ProcessClock;
  /** How long a message between two threads takes, in ms. */
  readonly delayMs: () => number;
  /** A host has ended by a failure of the program. */
  readonly failed: (reason: string) => void;
  /** Whether it ends while it does what it is asked for. */
  readonly crashes: (request: 'start' | 'state') => boolean;
  /** It was let fail. */
  readonly crashed: () => void;
  /** It sends points of a loopback node. */
  readonly loops: () => void;
};

export class SimulatedHost implements LocalHostLink {
  readonly #process: HostProcess;
  readonly #events: HostLinkEvents;
  readonly #status = new Int32Array(StatusCell.Count);
  /** Rows that are moved are gone here, however few they are. */
  readonly #rows = new RowsSender(1);
  readonly #toHost: Channel<ToHost>;
  readonly #fromHost: Channel<FromHost>;
  readonly #host: TaskHost;
  readonly #owner: Owner;
  /** The task that was started last. */
  #lastTask = 0;
  #isEnded = false;

  constructor({ functions, server }: ThreadLinkOptions, events: HostLinkEvents, of: HostProcess) {
    this.#process = of;
    this.#events = events;
    this.#owner = {
      failed: (error) => {
        of.failed(messageOf(error));
        this.#end(messageOf(error), this.currentTask);
      },
    };
    this.#host = new TaskHost({
      functions,
      server,
      clock: this.#clock(),
      status: this.#status,
      post: (message) => {
        this.#fromHost.send(copied(message));
        if (message.kind !== 'items' || this.#isEnded) return;
        if (message.items.some(({ kind }) => kind === 'loopback')) of.loops();
      },
    });
    this.#toHost = new Channel(of, (message) => {
      if (this.#isEnded) return;
      enter(this.#owner);
      try {
        this.#host.handle(message);
      } catch (error) {
        this.#owner.failed(error);
      }
    });
    this.#fromHost = new Channel(of, (message) => {
      if (!this.#isEnded) this.#events.message(message);
    });
  }

  get currentTask(): number {
    return this.#status[StatusCell.CurrentTask] ?? 0;
  }

  get work(): number {
    return this.#status[StatusCell.Work] ?? 0;
  }

  post(message: ToHostMessage): void {
    if (message.kind === 'request') {
      const { name } = message.request;
      const { clock, delayMs, crashes } = this.#process;
      if (name === 'start' || name === 'state') {
        if (name === 'start') this.#lastTask = message.task;
        if (crashes(name)) clock.after(delayMs() / 2, () => this.crash(name === 'start'));
      }
    }
    this.#toHost.send(copied(message));
  }

  postRows(rows: readonly RowsForTasks[]): void {
    this.#move(this.#rows.send(rows));
  }

  postPacked(entries: readonly RowsEntry[]): void {
    this.#move(this.#rows.adopt(entries));
  }

  #move({ message, buffers }: RowsMessage): void {
    try {
      this.#toHost.send(copied(message));
      structuredClone(undefined, { transfer: [...buffers] });
    } catch (error) {
      // Those who move rows do not send them again.
      this.#process.failed(messageOf(error));
      throw error;
    }
  }

  terminate(): Promise<void> {
    this.#end('thread ended with code 1', this.currentTask);
    return Promise.resolve();
  }

  /** It ends while it works for the last task, or for nobody knows which, without memory. */
  crash(isKnown = true): void {
    if (this.#isEnded) return;
    this.#process.crashed();
    this.#end(CRASH, isKnown ? this.#lastTask : 0);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  #end(reason: string, currentTask: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#events.ended({ reason, currentTask, isOfLocation: false });
  }

  /** Nothing of a thread that has ended happens any more. */
  #clock(): Clock {
    const { clock } = this.#process;
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: async (delayMs, signal) => {
        await clock.sleep(delayMs, signal);
        if (this.#isEnded) await new Promise(() => undefined);
        enter(this.#owner);
      },
    };
  }
}

/** Messages in one direction, in order. */
class Channel<T> {
  readonly #process: HostProcess;
  readonly #take: (message: T) => void;
  readonly #queue: T[] = [];
  #lastMs = 0;

  constructor(process: HostProcess, take: (message: T) => void) {
    this.#process = process;
    this.#take = take;
  }

  send(message: T): void {
    const { clock, delayMs } = this.#process;
    const nowMs = clock.monotonicMs();
    this.#queue.push(message);
    this.#lastMs = Math.max(this.#lastMs, nowMs + delayMs());
    const next = (): void => {
      enter(undefined);
      this.#next();
    };
    if (this.#lastMs > nowMs) clock.after(this.#lastMs - nowMs, next);
    else setImmediate(next);
  }

  #next(): void {
    const message = this.#queue.shift();
    if (message !== undefined && !this.#process.clock.hasEnded) this.#take(message);
  }
}
