// Messages between the engine's thread and a task host. Each direction keeps its order, and
// messages of one task are handled in that order too (docs/adr/0002-threads.md).
import type { Inhibition } from '../inhibitions.ts';
import type { Timestamp } from '@tidemark/core';
import type { HandlerSpec, Pipeline, ScalerProvider } from '@tidemark/pipeline';
import type { EventCause } from '../event-cause.ts';
import type { RememberedState } from '../remembered-state.ts';
import type { SideloadDocuments } from './hosted-services.ts';
import type {
  Due,
  AlertGroups,
  EndpointRows,
  AlertDefaults,
  Rerun,
  TapMessage,
  TapOptions,
  TaskLimits,
  TaskStats,
} from '../running-task.ts';
import type {
  AlertEvent,
  HttpRequest,
  LogLevel,
  QueryResultSeries,
  TaskServices,
} from '../services.ts';
import type { StartErrorDetails } from '../node.ts';
import type { TaskPart } from '../part.ts';
import type { PointBatch } from '../point-batch.ts';
import type { PackedBatch } from './batch-codec.ts';
import type { UdfFunctionConfig } from './udf-connector.ts';

/** The data that the thread is started with. */
export type HostData = {
  /**
   * By `StatusCell`; written by the host, and read by the engine's thread even while the host is
   * busy.
   */
  readonly status: SharedArrayBuffer;
  readonly functions: ReadonlyMap<string, UdfFunctionConfig>;
  readonly server: TaskServices['server'];
};

/**
 * Positions in `HostData.status`: the task that the host is working for or 0, and a count that
 * changes with every piece of work.
 */
export const StatusCell = { CurrentTask: 0, Work: 1, Count: 2 } as const;

/**
 * Whether a message can change the counters of tasks: requests for them and acknowledgements do
 * not.
 */
export function makesWork(message: ToHost): boolean {
  if (message.kind === 'request') {
    return !['stats', 'output', 'alert-groups'].includes(message.request.name);
  }
  return message.kind !== 'ping' && message.kind !== 'handled';
}

export type Endpoint = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rowTemplate?: string | undefined;
};

/** A cluster of an autoscale node. Requests are signed where the secret is. */
export type ScalerEntry = {
  readonly kind: ScalerProvider;
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly isSigned: boolean;
};

/** A task with all data that its nodes read synchronously. */
export type TaskStart = {
  readonly taskId: string;
  readonly scope: string | undefined;
  readonly part: TaskPart | undefined;
  readonly pipeline: Pipeline;
  readonly limits: Partial<TaskLimits> | undefined;
  readonly alerts: AlertDefaults | undefined;
  readonly state: Uint8Array | undefined;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly scalers: readonly ScalerEntry[];
  /** As returned by the alerts for the unit. */
  readonly lastCause: EventCause | undefined;
  readonly hasSideload: boolean;
  /** Start of the virtual time of the task; without it the task uses the time of the machine. */
  readonly virtualStart: Timestamp | undefined;
  /** As in the options of the task. */
  readonly position: { readonly latenessNanos: bigint } | undefined;
  readonly rerun: Rerun | undefined;
  /** A replay: its outputs are sent at its end. */
  readonly isReplay: boolean;
};

/**
 * Requests about one task. `stats`, `output` and `alert-groups` wait a moment for earlier messages,
 * but not for a busy task; the others are handled in order, and all but `settle` hold back what
 * follows.
 */
export type TaskRequest =
  | { readonly name: 'start'; readonly start: TaskStart }
  | { readonly name: 'drain' }
  | { readonly name: 'settle' }
  | { readonly name: 'close' }
  | { readonly name: 'state' }
  | { readonly name: 'stats' }
  | { readonly name: 'output'; readonly endpoint: string }
  | { readonly name: 'alert-groups'; readonly nodeName: string };

export type ToHost =
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly task: number;
      readonly request: TaskRequest;
    }
  | { readonly kind: 'rows'; readonly entries: readonly AnyRows[] }
  | {
      readonly kind: 'result';
      readonly task: number;
      readonly nodeName: string;
      readonly series: readonly QueryResultSeries[];
      readonly stop: Timestamp;
      /** The number of rows that it counts as, see `taken`. */
      readonly rowCount: number;
    }
  | {
      readonly kind: 'query-failed';
      readonly task: number;
      readonly nodeName: string;
      readonly message: string;
    }
  /** Moves the virtual time of a task. */
  | { readonly kind: 'advance'; readonly task: number; readonly time: Timestamp }
  /** The time of the task is the machine's from now on. */
  | { readonly kind: 'live'; readonly task: number }
  /** Ends a task at once, dropping its waiting messages. */
  | { readonly kind: 'discard'; readonly task: number }
  | {
      readonly kind: 'tap';
      readonly tap: number;
      readonly task: number;
      readonly nodeName: string;
      readonly options: TapOptions;
    }
  | { readonly kind: 'untap'; readonly tap: number }
  /** The answer to a `call` of the host. */
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly message: string }
  | { readonly kind: 'documents'; readonly source: string; readonly documents: SideloadDocuments }
  /** The states that a topic remembers, before the first task here that publishes to it. */
  | {
      readonly kind: 'topic';
      readonly topic: string;
      readonly states: readonly (readonly [eventId: string, state: RememberedState])[];
    }
  /** No task here publishes to the topic any more. */
  | { readonly kind: 'topic-closed'; readonly topic: string }
  /** Another thread changed a topic; without an id the whole topic is gone. */
  | {
      readonly kind: 'event-state';
      readonly topic: string;
      readonly eventId: string | undefined;
      readonly state: RememberedState | undefined;
    }
  /** An inhibition of a task elsewhere. */
  | { readonly kind: 'inhibition'; readonly inhibition: Inhibition; readonly isActive: boolean }
  /** Acknowledges this many items of the host. */
  | { readonly kind: 'handled'; readonly count: number }
  | { readonly kind: 'ping'; readonly id: number };

/** Rows for some tasks of a host. */
type RowsTo = {
  readonly tasks: readonly number[];
  /** In the virtual time of the task; `undefined` in that of the machine. */
  readonly due: Due | undefined;
  /** Other tasks of the host will be given them, too: they are named by their number then. */
  readonly isKept: boolean;
};

export type RowsEntry = RowsTo & { readonly batch: PackedBatch };

/** Rows themselves, or the number of those that were sent before: see `RememberedBatches`. */
export type AnyRows = RowsEntry | (RowsTo & { readonly number: number });

/** The final state of a task that has ended. */
export type FinalTaskState = {
  /** The last counters. */
  readonly stats: TaskStats;
  /** For a replay: the rows of its endpoints. */
  readonly outputs: ReadonlyMap<string, EndpointRows> | undefined;
};

/** A host's request to the services of a task; the answer is a `reply` or a `refusal`. */
export type ServiceCall =
  | {
      readonly name: 'write';
      readonly cluster: string;
      readonly database: string;
      readonly retentionPolicy: string;
      readonly precision: string;
      readonly consistency: string;
      /** Line protocol. */
      readonly body: string;
    }
  | { readonly name: 'execute'; readonly cluster: string; readonly statement: string }
  | { readonly name: 'query'; readonly cluster: string; readonly statement: string }
  | {
      readonly name: 'http';
      readonly request: HttpRequest;
      readonly signer: { readonly kind: ScalerProvider; readonly name: string } | undefined;
    }
  | { readonly name: 'open-sideload'; readonly source: string };

/** Messages of a host, in order. All of them are acknowledged by `handled`. */
export type HostItem =
  | {
      readonly kind: 'open-topic';
      readonly task: number;
      readonly topic: string;
      readonly handlers: readonly HandlerSpec[];
    }
  | { readonly kind: 'close-topic'; readonly task: number; readonly topic: string }
  | {
      readonly kind: 'publish';
      readonly task: number;
      readonly topic: string;
      readonly event: AlertEvent;
    }
  | {
      readonly kind: 'update-event';
      readonly task: number;
      readonly topic: string;
      readonly event: AlertEvent;
    }
  | {
      readonly kind: 'inhibit';
      readonly task: number;
      readonly inhibition: Inhibition;
      readonly isActive: boolean;
    }
  | {
      readonly kind: 'log';
      readonly task: number;
      readonly level: LogLevel;
      readonly nodeName: string;
      readonly message: string;
      readonly context: Readonly<Record<string, unknown>> | undefined;
    }
  | { readonly kind: 'udf-line'; readonly functionName: string; readonly line: string }
  | {
      readonly kind: 'loopback';
      readonly task: number;
      readonly batch: PointBatch;
      readonly cause: EventCause | undefined;
    }
  | { readonly kind: 'tapped'; readonly tap: number; readonly messages: readonly TapMessage[] }
  | { readonly kind: 'close-sideload'; readonly source: string }
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly task: number;
      readonly call: ServiceCall;
    }
  | { readonly kind: 'cancel'; readonly id: number }
  | {
      readonly kind: 'failed';
      readonly task: number;
      readonly error: string;
      readonly remains: FinalTaskState;
    }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | {
      readonly kind: 'fault';
      readonly id: number;
      readonly message: string;
      /** For a task that could not start: the place of the reason. */
      readonly start?: StartErrorDetails;
    };

export type FromHost =
  | {
      readonly kind: 'items';
      readonly items: readonly HostItem[];
      /** Rows that were processed since the last message: task, count, task, count… */
      readonly taken: Uint32Array | undefined;
    }
  | {
      readonly kind: 'pong';
      readonly id: number;
      /** Points (batches) that entered, for each task with any activity. */
      readonly collected: readonly (readonly [task: number, count: number])[];
      /** Milliseconds of work since the last answer, by task with any. */
      readonly busyMs: readonly (readonly [task: number, ms: number])[];
    };

/** Answers by the name of their request. */
export type Answers = {
  /** The first counters. */
  readonly start: TaskStats;
  readonly drain: undefined;
  readonly settle: undefined;
  readonly close: FinalTaskState;
  readonly state: Uint8Array;
  readonly stats: TaskStats;
  readonly output: EndpointRows | undefined;
  readonly 'alert-groups': AlertGroups | undefined;
};
