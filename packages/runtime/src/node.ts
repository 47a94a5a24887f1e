// The interface of a running node, and its context in the task.
import { AssertionFailed } from '@tidemark/core';
import type { InhibitionRegistry } from './inhibitions.ts';
import type { EdgeType, NodeSpec } from '@tidemark/pipeline';
import type { Edge } from './edge.ts';
import type { Barrier, Batch, Point } from './data/point.ts';
import type { Group, GroupTable } from './data/group.ts';
import type { Series, SeriesTable } from './data/series.ts';
import type { CallContext } from './lambda/function.ts';
import type {
  AlertDefaults,
  EndpointRows,
  Rerun,
  TapCondition,
  TaskLimits,
} from './running-task.ts';
import type { EventCause, ReplayedRow } from './event-cause.ts';
import type { NodeCapabilities } from './node-capabilities.ts';
import type { PartFilter } from './part.ts';
import type { LogLevel, TaskServices } from './services.ts';
import type { Timers } from './timers.ts';

/** Takes the messages of an edge, in order. */
export interface Receiver {
  point(point: Point): void;
  batch(batch: Batch): void;
  barrier(barrier: Barrier): void;
  deleteGroup(group: Group): void;
}

/**
 * A running node: a function of its state and a message. Everything is synchronous; a node that
 * needs an answer from outside queues messages and declares that by the capability `waiting`.
 */
export interface RunningNode extends Receiver {
  /** Number of live groups, `working_cardinality`. */
  readonly groupCount: number;
  /** Its capabilities beyond taking messages; fixed. */
  readonly capabilities: NodeCapabilities;
}

/** Shared by the nodes of one task. */
export interface TaskContext {
  readonly taskId: string;
  /** The task, or the part of it that runs here; see `unitName`. */
  readonly unit: string;
  readonly scope: string;
  readonly services: TaskServices;
  readonly timers: Timers;
  /** Real timers, which a replay's clock does not move. */
  readonly outsideTimers: Timers;
  readonly groups: GroupTable;
  readonly series: SeriesTable;
  /** The series that the task takes; all of them when absent. */
  readonly part: PartFilter | undefined;
  readonly limits: TaskLimits;
  readonly alerts: AlertDefaults;
  readonly dbrps: readonly { readonly database: string; readonly retentionPolicy: string }[];
  readonly callContext: CallContext;
  /**
   * A node keeps a point beyond the message: counted, and given values of its own if it outlives
   * its write. Returns false when the task holds too many points.
   */
  hold(point: Point): boolean;
  release(point: Point): void;
  /** The same for a point of so many fields that a node keeps in columns. */
  holdRow(fieldCount: number): boolean;
  releaseRows(count: number, fieldCount: number): void;
  /** Present while the task catches up. */
  readonly rerun: Rerun | undefined;
  /** The current row of the log of points; `undefined` outside of one. */
  cause(): EventCause | undefined;
  /** The same, while the task is given the log again. */
  replayed(): ReplayedRow | undefined;
  /** Number of the present sweep for idle groups; sources record it in the groups they see. */
  readonly sweep: number;
  /**
   * A number for each write, timer and answer from outside; that of a write is repeated with its
   * next rows.
   */
  readonly writeSequence: number;
  /** Rows of the present write; 0 outside of one. */
  readonly writeRowCount: number;
  /** Runs a callback from a timer or an answer: failures end the task, never the thread. */
  guard(callback: () => void): void;
  /** First output edge of a node, for counting what it emits. Known once all nodes exist. */
  outputEdge(nodeId: number): Edge | undefined;
  /** Shared by nodes of the task, by name. */
  readonly httpOutputs: Map<string, () => EndpointRows>;
  /** Those of all tasks of the engine; a replay has its own. */
  readonly inhibitions: InhibitionRegistry;
}

/** The context of one node. */
export interface NodeContext<Options = unknown> {
  readonly spec: NodeSpec<Options>;
  readonly options: Options;
  readonly name: string;
  readonly wants: EdgeType;
  readonly parentNames: readonly string[];
  /**
   * The only fields of its output that are read at present, by its children or by a tap;
   * `undefined` when all may be.
   */
  readonly fieldsWanted: readonly string[] | undefined;
  readonly task: TaskContext;
  /** Receives the output: all children, in their order. */
  readonly out: Receiver;
  /**
   * Counts an error and logs it, with the point at fault (unless the node is quiet or logs too
   * much).
   */
  fail(message: string, cause?: string, point?: Point): void;
  /** Ends the task. */
  abort(message: string): never;
  log(level: LogLevel, message: string, context?: Readonly<Record<string, unknown>>): void;
  /** `undefined` unless the node's decisions are observed. */
  readonly explain:
    | ((why: {
        readonly group: Group;
        readonly time: bigint;
        readonly outcome: string;
        readonly conditions: readonly TapCondition[];
      }) => void)
    | undefined;
  /** As the task's, counted for this node. */
  hold(point: Point): boolean;
  release(point: Point): void;
  holdRow(fieldCount: number): boolean;
  releaseRows(count: number, fieldCount: number): void;
  /** Group of a series; `undefined`, after counting an error, when the task has too many. */
  groupOf(series: Series, dimensions: Group['dimensions']): Group | undefined;
}

/** A node failed in a way that ends the task. */
export class NodeFailed extends Error {
  override readonly name = 'NodeFailed';
  readonly nodeName: string;

  constructor(nodeName: string, reason: string) {
    super(`${nodeName}: ${reason}`);
    this.nodeName = nodeName;
  }
}

/** The place of the reason of a `StartError`. */
export type StartErrorDetails = {
  /** The refusing node, once it is known. */
  readonly nodeName?: string | undefined;
  /** Properties of that node that the reason is about. */
  readonly properties?: readonly string[] | undefined;
  /** How to correct it. */
  readonly hint?: string | undefined;
};

/** A task that cannot start: the text is the API's answer. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly details: StartErrorDetails;

  constructor(message: string, options: StartErrorDetails & { readonly cause?: unknown } = {}) {
    const { cause, nodeName, properties, hint } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.details = { nodeName, properties, hint };
  }
}

/** The error of a node at its start, with the node's name. Failed assertions stay as they are. */
export function startErrorOf(nodeName: string, cause: unknown): unknown {
  if (cause instanceof AssertionFailed || !(cause instanceof Error)) return cause;
  const details = cause instanceof StartError ? cause.details : {};
  return new StartError(cause.message, { ...details, cause, nodeName });
}
