// The connection to one task host, a thread of this process or of another one: messages in both
// directions, in order, and a notification when the host ends.
import type { PointBatch } from '../point-batch.ts';
import type { Due } from '../running-task.ts';
import type { FromHost, ToHost } from './protocol.ts';

/** Rows for tasks of one host. */
export type RowsForTasks = {
  readonly batch: PointBatch;
  readonly tasks: readonly number[];
  /** As in `RowsEntry`. */
  readonly due: Due | undefined;
  /** Nobody else keeps the batch: its columns may be moved. */
  readonly isOurs: boolean;
};

/** Messages but rows, which each way has its own form of. */
export type ToHostMessage = Exclude<ToHost, { readonly kind: 'rows' }>;

export interface HostLink {
  /** The task that the host works for at this moment, as far as is known; 0 is none. */
  readonly currentTask: number;
  /** Moves whenever the host may have worked: while it stands still, so do all counters. */
  readonly work: number;
  post(message: ToHostMessage): void;
  postRows(rows: readonly RowsForTasks[]): void;
  /** Ends the host where it is. Resolves when `ended` was called. */
  terminate(): Promise<void>;
}

export type HostLinkEvents = {
  readonly message: (message: FromHost) => void;
  /** Called once: the host has ended, asked or not. */
  readonly ended: (end: HostEnd) => void;
};

export type HostEnd = {
  readonly reason: string;
  /** What it worked for. */
  readonly currentTask: number;
  /** It went together with everything where it ran, through no fault of its tasks. */
  readonly isOfPlace: boolean;
};

/** Where hosts run: this process, or another instance of a cluster. */
export interface HostPlace {
  /** '' is this process. */
  readonly id: string;
  /** Hosts that share the tasks there. */
  readonly hostCount: number;
  openHost(index: number, events: HostLinkEvents): HostLink;
}
