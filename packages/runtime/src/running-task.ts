// A running task as the engine sees it: created by `createTask`, in process or in a task host.
import type { Clock, Timestamp } from '@tidemark/core';
import type { TaskPart } from './part.ts';
import type { PointBatch } from './point-batch.ts';
import type { AlertLevelName, OutputPoint, QueryResultSeries, ResultRow } from './services.ts';
import type { Timers } from './timers.ts';

export type TaskOptions = {
  readonly taskId: string;
  /** Prefix of anonymous topics: `main`, or the id of a replay. Default `main`. */
  readonly scope?: string | undefined;
  /** Only the points of this part; all of them when absent. */
  readonly part?: TaskPart | undefined;
  readonly clock: Clock;
  /** Default: timers of `clock`. Replays and tests pass `VirtualTimers`. */
  readonly timers?: Timers | undefined;
  /**
   * A replay ends with its thread instead of being restarted; its outputs can be read after its
   * end.
   */
  readonly isReplay?: boolean | undefined;
  readonly alerts?: AlertDefaults | undefined;
  readonly limits?: Partial<TaskLimits> | undefined;
  /** The state for restarting after the thread of the task has failed; called at that time. */
  readonly savedState?: (() => SavedState | undefined) | undefined;
  /** States include which points they contain; points may be late by this time. */
  readonly position?: { readonly latenessNanos: bigint } | undefined;
  /**
   * The task first catches up with what it has missed since its state was taken, until `goLive`.
   */
  readonly rerun?: Rerun | undefined;
};

/**
 * Catch-up of a task: its time begins at `now` and is moved by `pushDue` and `advanceTo`, and
 * events that its topics remember are not published again.
 */
export type Rerun = {
  /** When the state was taken. */
  readonly now: Timestamp;
  /** Missed points are not older. */
  readonly since: Timestamp;
  /** When the task began: its topics may have older events, which are not its own. */
  readonly begun: Timestamp;
  /** As in `TaskPosition`. */
  readonly record?: number | undefined;
};

/**
 * When rows are due in the virtual time of a task: each with an offset from its own time, or all of
 * them at one time.
 */
export type Due = { readonly offset: bigint } | { readonly at: Timestamp };

/** The saved state of a task, and how it continues. */
export type SavedState = {
  /** Absent when none is saved: the task begins again. */
  readonly state?: TaskState | undefined;
  readonly rerun?: Rerun | undefined;
};

/** Changes by handler services with `global = true` to every alert node. */
export type AlertDefaults = {
  /** A global handler exists: nodes without handlers have an anonymous topic too. */
  readonly hasGlobalHandlers: boolean;
  /** A global handler wants state changes only. */
  readonly isStateChangesOnly: boolean;
};

export type TaskLimits = {
  /** Groups of one task; points that would open further ones are dropped with an error. */
  readonly groupCountMax: number;
  /**
   * Points that nodes of one task hold (windows, joins); further ones are refused with an error.
   */
  readonly heldPointCountMax: number;
  /** Bytes of these points, as `memory_bytes` of the nodes counts them. */
  readonly heldBytesMax: number;
  /** Groups without points for this long (by the wall clock) are released; 0 keeps them forever. */
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
  /** Approximate size of the points and groups that the node keeps. */
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
  /** The tap's reader was too slow: this many messages are missing here. */
  | { readonly kind: 'dropped'; readonly edge: string; readonly count: number }
  | {
      /**
       * Why `where` dropped a point or `alert` chose a level, and what `eval` computed: each
       * condition or expression with its values.
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
   * The result of a condition, or the value of an `eval`'s expression; `undefined` when it could
   * not be evaluated.
   */
  readonly result: unknown;
  /** One of the conditions that the previous one joins with AND and OR. */
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

/** The points and query results that a state contains. */
export type TaskPosition = {
  /** When it was taken, in the time of the task. */
  readonly time: Timestamp;
  /** When the task began without an earlier state: it has missed nothing older. */
  readonly begun: Timestamp;
  /** Newest time by series (`seriesText`), for series with recent points. */
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

/** A snapshot as `v8.serialize` prints it: the form between threads and on disk. */
export type EncodedSnapshot = Uint8Array;
export type TaskState = TaskSnapshot | EncodedSnapshot;

/** The tasks of one thread, seen from another: a batch is sent once for all of them. */
export interface BatchTaker {
  /** Tasks of the thread wait for the batch, and are given it later. */
  keep(batch: PointBatch): void;
  /** No task of the thread waits for the batch any more. */
  release(batch: PointBatch): void;
  /**
   * The batch has no other holder: its columns may be transferred to the other thread instead of
   * being copied.
   */
  takeOver(batch: PointBatch): void;
}

/**
 * A running task. All calls are synchronous unless they return a promise; a task never calls back
 * into its owner from `push` except through its services. After `error` is set everything is
 * ignored.
 */
/**
 * The rows of an `httpOut` endpoint; `null` before its first message, none when all its groups are
 * gone.
 */
export type EndpointRows = readonly ResultRow[] | null;

/** A group of an alert node, with its present level. */
export type AlertGroup = {
  /** The group's id; '' for data without groups. */
  readonly group: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly level: AlertLevelName;
  /** When it left OK; `undefined` while it is OK. */
  readonly since: Timestamp | undefined;
  /** Time of its last event; `undefined` when it never had one. */
  readonly lastEvent: Timestamp | undefined;
  /** Id of that event; `undefined` also for a state that was saved by a version without it. */
  readonly event: string | undefined;
  readonly isFlapping: boolean;
};

/** Groups of an alert node: at most `ALERT_GROUPS_MAX` of them, the most severe first. */
export type AlertGroups = {
  /** The number of all groups. */
  readonly total: number;
  /** Where the events are; '' when the node publishes none. */
  readonly topic: string;
  readonly groups: readonly AlertGroup[];
};

/** How far a task has processed its input. */
export type TaskReach = {
  /** Time of its latest input: a point of the last write, the end of a query's range. */
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
   * Called with the reason when the thread of the task failed and the task was restarted; without
   * one when it continues elsewhere and misses nothing that its source can repeat.
   */
  onRestarted(listener: (reason: string | undefined) => void): void;
  /** The thread of the task, if it is another one. */
  readonly taker: BatchTaker | undefined;
  /** Measurements whose points it reads; empty: all. */
  readonly measurements: ReadonlySet<string>;
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
   * As `push`, for a task with virtual timers: each point comes after the timers up to the time
   * when it is due.
   */
  pushDue(batch: PointBatch, due: Due): void;
  /** Moves the time of a task with virtual timers, after everything that was pushed before. */
  advanceTo(time: Timestamp): void;
  /**
   * Ends the catch-up, after everything that was pushed before: the time is the machine's from now
   * on.
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
   * `undefined`: push at will. Otherwise resolves when the task can take more; pushing earlier is
   * allowed and queued.
   */
  ready(): Promise<void> | undefined;
  /**
   * Resolves when alerts of the points that were pushed before have been published, or the task is
   * too slow to wait for. `undefined` when they have been, as in a task of the same thread, or the
   * task raises none.
   */
  processed(): Promise<void> | undefined;
  /**
   * Resolves when nothing waits inside (answers from outside included). Windows are not flushed.
   */
  drain(): Promise<void>;
  /** As `drain`, after nodes have sent what they buffer: a state has none of it then. */
  settle(): Promise<void>;
  /**
   * Ends the source after its last input: nodes that flush at the end do so, outputs are written,
   * then everything is released. A task that takes none of its input may be abandoned, whatever it
   * was still to be given.
   */
  close(givenAll?: Promise<void>): Promise<void>;
  /** The latest known counters; `refresh` updates them. */
  stats(): TaskStats;
  /**
   * Requests the present counters; gives up after a moment when the task is too busy to answer.
   * With `onlyChanged` an idle task is not asked.
   */
  refresh(options?: { readonly onlyChanged: boolean }): Promise<void>;
  /** Its progress; costs nothing. */
  readonly reached: TaskReach;
  /** Points (batches) that entered the task; costs nothing. */
  readonly collectedCount: number;
  /**
   * Rows of an `httpOut` endpoint in order of group creation; `undefined` when there is no such
   * endpoint.
   */
  httpOutput(endpoint: string): EndpointRows | undefined | Promise<EndpointRows | undefined>;
  /** Groups of an alert node; `undefined` when there is no such node, or it does not run. */
  alertGroups(nodeName: string): AlertGroups | undefined | Promise<AlertGroups | undefined>;
  /**
   * State after everything that was pushed before, including external state (user-defined
   * functions).
   */
  takeState(): Promise<TaskState>;
  /** Called before `start` and the first push. Nodes with unknown names are ignored. */
  restore(state: TaskState): void;
  /** Observes the output of node `nodeName`. Returns a function that stops it. */
  tap(nodeName: string, listener: (message: TapMessage) => void, options?: TapOptions): () => void;
}
