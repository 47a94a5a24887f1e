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
  /** The batch has no other holder: its columns may be transferred. */
  readonly isOurs: boolean;
  /** As in `RowsEntry`. */
  readonly isKept: boolean;
};

/** Messages other than rows, for which each kind of link has its own form. */
export type ToHostMessage = Exclude<ToHost, { readonly kind: 'rows' }>;

export interface HostLink {
  /** The task that the host is working for now, if known; 0 is none. */
  readonly currentTask: number;
  /** Changes whenever the host may have worked: while it stays the same, so do all counters. */
  readonly work: number;
  post(message: ToHostMessage): void;
  postRows(rows: readonly RowsForTasks[]): void;
  /** Ends the host at once. Resolves when `ended` was called. */
  terminate(): Promise<void>;
}

export type HostLinkEvents = {
  readonly message: (message: FromHost) => void;
  /** Called once: the host has ended, requested or not. */
  readonly ended: (end: HostEnd) => void;
};

export type HostEnd = {
  readonly reason: string;
  /** The task that it was working for. */
  readonly currentTask: number;
  /** It ended together with its location, through no fault of its tasks. */
  readonly isOfLocation: boolean;
};

/** Where hosts run: this process, or another instance of a cluster. */
export interface HostLocation {
  /** '' is this process. */
  readonly id: string;
  /** Number of hosts that share the tasks there. */
  readonly hostCount: number;
  openHost(index: number, events: HostLinkEvents): HostLink;
}
