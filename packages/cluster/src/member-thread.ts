// An instance's membership in its cluster, as seen from its own thread. Another thread with its own
// connection renews membership and lease (`lease-thread.ts`); this class holds the state that it
// reported last.
import { InvalidRequest, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { startThread } from '@tidemark/process';
import type { Worker } from 'node:worker_threads';

import type { CoordinatorOptions } from './nats-coordinator.ts';
import { FIRST_LEVEL } from './leader-entry.ts';
import type { LeaderRecord } from './leader-entry.ts';
import { leaseClockNs, REPORTS } from './member-protocol.ts';
import type {
  FromLeaseThread,
  LeaseThreadData,
  MemberCall,
  MemberView,
  ToLeaseThread,
} from './member-protocol.ts';
import type { Member, MemberReport, MembershipEvents, MembershipOptions } from './membership.ts';

export type MemberThreadOptions = Pick<MembershipOptions, 'leaseMs' | 'self'> & {
  readonly coordinator: CoordinatorOptions;
  readonly clock: Clock;
  readonly report: () => MemberReport;
  readonly events: MembershipEvents;
};

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void };

export class MemberThread {
  readonly #options: MemberThreadOptions;
  readonly #leaseUntil = new BigInt64Array(new SharedArrayBuffer(8));
  readonly #calls = new Map<number, Waiting>();
  readonly #closed = new AbortController();
  #worker: Worker | undefined;
  #view: MemberView = { members: [], leader: undefined, level: FIRST_LEVEL, problem: undefined };
  #term = 0;
  #nextCall = 1;

  constructor(options: MemberThreadOptions) {
    this.#options = options;
  }

  /**
   * Joins the cluster. Resolves when this instance is a member and knows the leader, if there is
   * one. Throws `InvalidRequest` if the cluster writes a format level that this instance does not
   * support.
   */
  async start(): Promise<void> {
    const { coordinator, leaseMs, self, report } = this.#options;
    const data: LeaseThreadData = {
      coordinator,
      leaseMs,
      self,
      leaseUntil: this.#leaseUntil.buffer as SharedArrayBuffer,
      report: report(),
    };
    const worker = startThread(import.meta.url, 'lease-thread', {
      workerData: data,
      name: 'lease',
    });
    this.#worker = worker;
    worker.on('message', (message: FromLeaseThread) => this.#take(message));
    worker.on('error', (error) => {
      // A bug ends the process, as in any other thread.
      throw error;
    });
    void this.#tell(); // Never rejects.
    await this.#call({ name: 'start' });
  }

  get id(): string {
    return this.#options.self.id;
  }

  /** All known members by id, including this one. */
  get members(): readonly Member[] {
    return this.#view.members;
  }

  get leader(): LeaderRecord | undefined {
    return this.#view.leader;
  }

  /** Whether this instance leads at this moment; must be checked before every act as leader. */
  get isLeading(): boolean {
    return this.#term > 0 && leaseClockNs() < Atomics.load(this.#leaseUntil, 0);
  }

  /**
   * The format level that may be written: all members support it, including those that may come
   * back.
   */
  get level(): number {
    return this.#view.level;
  }

  /** Why the last request to the coordinator failed. */
  get problem(): string | undefined {
    return this.#view.problem;
  }

  /** Tells the others that this instance serves as the leader. */
  serve(): Promise<void> {
    return this.#call({ name: 'serve' });
  }

  /**
   * Tells the others that this instance, which still leads, serves no more: it is about to resign.
   */
  retire(): Promise<void> {
    return this.#call({ name: 'retire' });
  }

  /** Resigns, so that another instance can lead at once. The work as leader must have ended. */
  abdicate(): Promise<void> {
    this.#term = 0;
    return this.#call({ name: 'abdicate' });
  }

  /** Asks an instance not to lead until it is restarted. */
  requestDrain(member: string): Promise<void> {
    return this.#call({ name: 'requestDrain', member });
  }

  /** Removes an instance that is gone for good. A live one joins again by itself. */
  forget(member: string): Promise<void> {
    return this.#call({ name: 'forget', member });
  }

  /** This instance is about to leave and no longer stands for election. */
  drain(): void {
    this.#post({ kind: 'drain' });
  }

  /**
   * Leaves the cluster. Rejects if the coordinator does not answer; others notice when the lease
   * ends.
   */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    try {
      await this.#call({ name: 'close' });
    } finally {
      this.#closed.abort();
      this.#worker = undefined;
      await worker.terminate();
    }
  }

  /** Reports periodically that this thread answers, and its state. */
  async #tell(): Promise<void> {
    const { clock, leaseMs, report } = this.#options;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      this.#post({ kind: 'report', report: report() });
      await clock.sleep(leaseMs / REPORTS, signal).catch(() => undefined);
    }
  }

  #take(message: FromLeaseThread): void {
    const { events } = this.#options;
    this.#view = message.view;
    switch (message.kind) {
      case 'answer':
        this.#answered(message);
        break;
      case 'elected':
        this.#term = message.term;
        events.elected(message.term);
        break;
      case 'lost':
        this.#term = 0;
        events.lost(message.reason);
        break;
      case 'drained':
        events.drained();
        break;
      case 'log':
        events.log(message.level, message.message, message.fields);
        break;
      case 'looked':
        events.looked();
    }
  }

  #answered({ id, failure }: FromLeaseThread & { readonly kind: 'answer' }): void {
    const waiting = this.#calls.get(id);
    this.#calls.delete(id);
    if (failure === undefined) waiting?.resolve();
    else
      waiting?.reject(
        failure.isInvalid ? new InvalidRequest(failure.message) : new Unavailable(failure.message),
      );
  }

  #call(call: MemberCall): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#worker === undefined) return reject(new Unavailable('the instance has left'));
      const id = this.#nextCall++;
      this.#calls.set(id, { resolve, reject });
      this.#post({ kind: 'call', id, call });
    });
  }

  #post(message: ToLeaseThread): void {
    this.#worker?.postMessage(message);
  }
}
