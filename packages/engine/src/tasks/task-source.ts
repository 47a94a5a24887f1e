// The source of a running task, points of the stream or results of its queries, and how it
// continues after a restart.
import type { Timestamp } from '@tidemark/core';
import { positionOf } from '@tidemark/runtime';
import type { Rerun, TaskPosition, TaskState } from '@tidemark/runtime';
import type { EdgeType } from '@tidemark/pipeline';

/** Feeds one running task until it is closed. */
export type TaskSource = {
  /** In a cluster: number of the last record of the log of points that the task got. */
  readonly sequence?: number | undefined;
  /**
   * In a cluster: number of the last record before those that the task gets from its beginning, to
   * which it goes back while no state of it is saved.
   */
  readonly begin?: number | undefined;
  /** In a cluster: when the task began, at `begin`. */
  readonly begun?: Timestamp | undefined;
  /** In a cluster: number of purged records that the task never got. */
  readonly missing?: number | undefined;
  /**
   * In a cluster: the present run, which ends with the thread of the task. A state contains what
   * `sequence` was when it was taken, if its run has not ended.
   */
  readonly run?: AbortSignal | undefined;
  /** In a cluster: feeds nothing until `release`, or until the task runs elsewhere. */
  hold?(): void;
  release?(): void;
  /** The thread of the task has failed: nothing is fed until `resume`. */
  suspend(): void;
  /** The task runs again, and has missed what arrived since. */
  resume(from: Resumption | undefined): void;
  /**
   * Waits until the task has caught up, but not for an unreachable database; then gives up. The
   * engine stops.
   */
  settle(deadlineMs: number): Promise<void>;
  /**
   * The engine stops, and the task may not have taken all of its points: drops those that wait,
   * which is logged, and refuses writes.
   */
  giveUp?(): void;
  /** Gives the task what it was promised, then nothing more. */
  close(): Promise<void>;
};

/** The position from which a task catches up. */
export type Resumption = { readonly position: TaskPosition; readonly rerun: Rerun };

export type CatchUpConfig = {
  /** Maximum missed time that is read again, in milliseconds; 0 reads none. */
  readonly catchUpMs: number;
  /** How late points may be. */
  readonly catchUpLatenessMs: number;
  /** How long a task waits for a database that does not answer. */
  readonly catchUpTimeoutMs: number;
  /** Which missed runs of queries are made up for: skip, last or all. */
  readonly missedRuns: string;
  /** Limit per query; the newest are made. */
  readonly missedRunsLimit: number;
};

const NANOS_PER_MS = 1_000_000n;

/** Where a task of a cluster began. */
export type Beginning = {
  /** Number of the last record of the log of points before those that it gets. */
  readonly sequence: number;
  readonly begun: Timestamp;
};

/**
 * How a task without a saved state begins again: it is given the same points, and knows its events
 * among those that are published.
 */
export function fromBeginning({ sequence: record, begun }: Beginning): Resumption {
  const position = { time: begun, begun, marks: [], record, queries: [] };
  return { position, rerun: { now: begun, since: begun, begun, record } };
}

/** Whether tasks of that type record which points they have seen. */
export function isCatchingUp(config: CatchUpConfig, type: EdgeType): boolean {
  return type === 'stream' ? config.catchUpMs > 0 : config.missedRuns !== 'skip';
}

/**
 * Where a task continues from a state; `undefined` when it has nothing to catch up with, or must
 * not.
 */
export function resumptionOf(
  state: TaskState,
  {
    config,
    type,
    now,
  }: { readonly config: CatchUpConfig; readonly type: EdgeType; readonly now: Timestamp },
): Resumption | undefined {
  if (!isCatchingUp(config, type)) return undefined;
  const position = positionOf(state);
  if (position === undefined) return undefined;
  const late = position.time - nanos(config.catchUpLatenessMs);
  const oldest = type === 'stream' ? now - nanos(config.catchUpMs) : position.begun;
  const since = [late, position.begun, oldest].reduce((a, b) => (a > b ? a : b));
  const { time: from, begun, record } = position;
  return { position, rerun: { now: from, since, begun, record } };
}

/** Milliseconds of a configuration in nanoseconds. */
export function nanos(ms: number): bigint {
  return BigInt(Math.round(ms)) * NANOS_PER_MS;
}
