// A running task as the engine sees it: created by `createTask`, in process or in a task host.
import type { Clock, Timestamp } from '@tidemark/core';
import type { TaskPart } from './part.ts';
import type { PointBatch } from './point-batch.ts';
import type { OutputPoint, QueryResultSeries, ResultRow } from './services.ts';
import type { Timers } from './timers.ts';

export type TaskOptions = {
  readonly taskId: string;
  /** First part of anonymous topics: `main`, or the id of a replay. Default `main`. */
  readonly scope?: string | undefined;
  /** Only the points of this part; all of them when absent. */
  readonly part?: TaskPart | undefined;
  readonly clock: Clock;
  /** Default: timers of `clock`. Replays and tests pass `VirtualTimers`. */
  readonly timers?: Timers | undefined;
  /**
   * A replay ends with its thread instead of being started again; its outputs can be read after its
   * end.
   */
  readonly isReplay?: boolean | undefined;
  readonly alerts?: AlertDefaults | undefined;
  readonly limits?: Partial<TaskLimits> | undefined;
  /** State to start again with after the thread of the task has failed; asked for at that time. */
  readonly savedState?: (() => SavedState | undefined) | undefined;
  /** The states that are taken say which points they contain; those may be so late. */
  readonly position?: { readonly latenessNanos: bigint } | undefined;
  /** The task is first given what it has missed since its state was taken, until `goLive`. */
  readonly rerun?: Rerun | undefined;
};

/**
 * A task that is given what it has missed: its time begins at `now` and is moved by `pushDue` and
 * `advanceTo`, and events that its topics remember are not published a second time.
 */
export type Rerun = {
  /** When the state was taken. */
  readonly now: Timestamp;
  /** What is given is not older. */
  readonly since: Timestamp;
  /** When the task began: its topics may remember older events, which are not its own. */
  readonly begun: Timestamp;
  /** As in `TaskPosition`. */
  readonly record?: number | undefined;
};

/**
 * When rows are due in the virtual time of a task: each so long after its own time, or all of them
 * at one time.
 */
export type Due = { readonly offset: bigint } | { readonly at: Timestamp };

/** What was saved of a task, and how it goes on. */
export type SavedState = {
  readonly state: TaskState;
  readonly rerun?: Rerun | undefined;
};

/** What handler services with `global = true` change for every alert node. */
export type AlertDefaults = {
  /** A global handler exists: nodes without handlers have an anonymous topic too. */
  readonly hasGlobalHandlers: boolean;
  /** A global handler wants state changes only. */
  readonly isStateChangesOnly: boolean;
};

export type TaskLimits = {
  /** Groups of one task; points that would open another are dropped with an error. */
  readonly groupCountMax: number;
  /**
   * Points that nodes of one task hold (windows, joins); beyond it the oldest state is refused with
   * an error.
   */
  readonly heldPointCountMax: number;
  /** Bytes of these points, as `memory_bytes` of the nodes counts them. */
  readonly heldBytesMax: number;
  /**
   * Groups without points for this long (by the wall clock) are forgotten; 0 keeps them forever.
   */
  readonly groupIdleMs: number;
  /** Messages that wait for an answer from outside (httpPost, UDF) before `push` asks to wait. */
  readonly waitingMessageCountMax: number;
};

/** Counters of a node. The names are those of the API. */
export type NodeStats = {
  readonly collected: number;
  readonly emitted: number;
  readonly errors: number;
  readonly avg_exec_time_ns: number;
  readonly working_cardinality: number;
  /** Points and groups that the node keeps, about. */
  readonly memory_bytes: number;
  /** Counters that only some nodes have, for example `alerts_triggered`. */
  readonly [name: string]: number;
};

export type EdgeStats = {
  readonly parent: string;
  readonly child: string;
  readonly type: 'stream' | 'batch';
  readonly collected: number;
  readonly emitted: number;
};

export type TaskStats = {
  /** By node name, in creation order. */
  readonly nodes: ReadonlyMap<string, NodeStats>;
  readonly edges: readonly EdgeStats[];
  /** Points (batches) that entered the task. */
  readonly collected: number;
  readonly heldPointCount: number;
  readonly heldBytes: number;
  readonly groupCount: number;
};

/** One message seen by a tap. */
export type TapMessage =
  | {
      readonly kind: 'point';
      readonly edge: string;
      readonly group: string;
      readonly point: OutputPoint;
    }
  | {
      readonly kind: 'batch';
      readonly edge: string;
      readonly group: string;
      readonly name: string;
      readonly time: Timestamp;
      readonly points: readonly OutputPoint[];
      /** The batch as httpOut and httpPost show it. */
      readonly row: ResultRow;
    }
  | {
      readonly kind: 'barrier';
      readonly edge: string;
      readonly group: string;
      readonly time: Timestamp;
    }
  | { readonly kind: 'delete-group'; readonly edge: string; readonly group: string }
  /** The watcher was too slow: so many messages are missing here. */
  | { readonly kind: 'dropped'; readonly edge: string; readonly count: number }
  | {
      /**
       * Why `where` dropped a point or `alert` chose a level, and what `eval` made of which values:
       * each condition or expression with the values it saw.
       */
      readonly kind: 'why';
      readonly edge: string;
      readonly group: string;
      readonly time: Timestamp;
      readonly outcome: string;
      readonly conditions: readonly TapCondition[];
    };

export type TapCondition = {
  /** `crit`, `where`, the name of an `eval`'s result. */
  readonly label: string;
  readonly text: string;
  /**
   * What a condition gave, or the value of an `eval`'s expression; `undefined` when it could not be
   * evaluated.
   */
  readonly result: unknown;
  /** One of the conditions that the one before it joins with AND and OR. */
  readonly isPart?: boolean | undefined;
  readonly error?: string | undefined;
  readonly values: Readonly<Record<string, unknown>>;
};

export type TapOptions = {
  /** Only this group: its id, without the measurement where groups are by measurement too. */
  readonly group?: string | undefined;
  /** Also explain decisions of the node. */
  readonly isExplaining?: boolean | undefined;
};

/**
 * State of a task as structured-cloneable data; `v8.serialize` stores it. Opaque outside the
 * runtime.
 */
export type TaskSnapshot = {
  readonly version: 1;
  readonly nodes: readonly { readonly name: string; readonly state: unknown }[];
  readonly position?: TaskPosition | undefined;
};

/** Which points and query results a state contains. */
export type TaskPosition = {
  /** When it was taken, in the time of the task. */
  readonly time: Timestamp;
  /** When the task began without an earlier state: it has missed nothing that is older. */
  readonly begun: Timestamp;
  /** Newest time by series (`seriesText`), of the series that had points lately. */
  readonly marks: readonly {
    readonly database: string;
    readonly retentionPolicy: string;
    readonly keys: readonly string[];
    readonly times: BigInt64Array;
  }[];
  /**
   * Number of the last record of a log of points that it contains, 0 when there is none. Absent in
   * states of versions that did not store what caused events.
   */
  readonly record?: number | undefined;
  /** End of the last range that each query node was given. */
  readonly queries: readonly (readonly [nodeName: string, stop: Timestamp])[];
};

/** A snapshot as `v8.serialize` prints it: what crosses threads and lies on disk. */
export type EncodedSnapshot = Uint8Array;
export type TaskState = TaskSnapshot | EncodedSnapshot;

/** Tasks of one thread, seen from another: what is given to one of them once serves all. */
export interface BatchTaker {
  /**
   * Nobody else keeps the batch: its columns may be moved to the other thread instead of being
   * copied.
   */
  takeOver(batch: PointBatch): void;
}

/**
 * A task that runs. All calls are synchronous unless they return a promise; a task never calls back
 * into its owner from `push` except through its services. After `error` is set everything is
 * ignored.
 */
/**
 * What an `httpOut` endpoint holds; `null` before its first message, none when all its groups are
 * gone.
 */
export type EndpointRows = readonly ResultRow[] | null;

/** How far a task is with what it is given. */
export type TaskReach = {
  /** Time of what it was given last: a point of the last write, the end of a query's range. */
  readonly newest: Timestamp | undefined;
  /** Rows that it was given and has not processed yet. */
  readonly waitingRows: number;
};

export interface RunningTask {
  readonly taskId: string;
  /** Why the task stopped by itself: `<nodeName>: <reason>`. */
  readonly error: string | undefined;
  /** Called once when `error` becomes set. */
  onError(listener: (error: string) => void): void;
  /**
   * Called with the reason when the thread of the task failed and the task was started again;
   * without one when it goes on elsewhere and misses nothing that its source can give it again.
   */
  onRestarted(listener: (reason: string | undefined) => void): void;
  /** Where the task runs when that is another thread. */
  readonly taker: BatchTaker | undefined;
  /**
   * Opens what needs the outside: databases to create, sideload sources, user-defined functions,
   * timers.
   */
  start(): Promise<void>;
  /**
   * Points for the stream source. The caller has checked that the task wants this database and
   * policy.
   */
  push(batch: PointBatch): void;
  /**
   * As `push`, of a task with virtual timers: each point comes after the timers up to the time when
   * it is due.
   */
  pushDue(batch: PointBatch, due: Due): void;
  /** Moves the time of a task with virtual timers, after everything that was pushed before. */
  advanceTo(time: Timestamp): void;
  /**
   * Ends what `rerun` began, after everything that was pushed before: the time is the machine's
   * from now on.
   */
  goLive(): void;
  /** Result of a query for the query node `nodeName`; `stop` is the end of its range. */
  pushQueryResult(
    nodeName: string,
    result: readonly QueryResultSeries[],
    options: { readonly stop: Timestamp },
  ): void;
  /** A query of `nodeName` failed: counted and logged. */
  queryFailed(nodeName: string, message: string): void;
  /**
   * `undefined`: push at will. Else resolves when the task can take more; pushing earlier is
   * allowed and queued.
   */
  ready(): Promise<void> | undefined;
  /**
   * Resolves when alerts of the points that were pushed before have been published, or the task is
   * too slow to be waited for. `undefined` when they have been, as in a task of the same thread, or
   * the task raises none.
   */
  processed(): Promise<void> | undefined;
  /**
   * Resolves when nothing waits inside (answers from outside included). Windows are not flushed.
   */
  drain(): Promise<void>;
  /**
   * Ends the source when it was given everything: nodes that flush at the end do so, outputs are
   * written, then everything is released. Where a task can be given up, one that takes nothing of
   * what it was given is, whatever else it was to be given.
   */
  close(givenAll?: Promise<void>): Promise<void>;
  /** Counters as they were last heard of; `refresh` brings them up to date. */
  stats(): TaskStats;
  /**
   * Asks for the present counters; gives up after a moment when the task is too busy to answer.
   * With `onlyChanged` a task that has done nothing lately is not asked.
   */
  refresh(options?: { readonly onlyChanged: boolean }): Promise<void>;
  /** How far it is; costs nothing. */
  readonly reached: TaskReach;
  /** Of the counters, points (batches) that entered the task, at no cost. */
  readonly collectedCount: number;
  /**
   * Rows of an `httpOut` endpoint in order of group creation; `undefined` when there is no such
   * endpoint.
   */
  httpOutput(endpoint: string): EndpointRows | undefined | Promise<EndpointRows | undefined>;
  /**
   * State after everything that was pushed before, with what lives outside (user-defined
   * functions).
   */
  takeState(): Promise<TaskState>;
  /** Before `start` and the first push. Nodes whose name is unknown are ignored. */
  restore(state: TaskState): void;
  /** Watches what leaves node `nodeName`. Returns the way to stop. */
  tap(nodeName: string, listener: (message: TapMessage) => void, options?: TapOptions): () => void;
}
