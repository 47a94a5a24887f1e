// Optional capabilities of nodes. A node implements a capability completely or not at all.
import type { RowSelection } from './data/row-selection.ts';
import type { RowSource } from './data/row-source.ts';
import type { Receiver } from './node.ts';
import type { AlertGroups } from './running-task.ts';
import type { QueryResultSeries } from './services.ts';

/** The capabilities of a node; fixed when it is created. */
export type NodeCapabilities = {
  readonly inputs?: ParentInputs | undefined;
  readonly counters?: Counters | undefined;
  readonly starting?: Starting | undefined;
  readonly waiting?: Waiting | undefined;
  readonly buffering?: Buffering | undefined;
  readonly outside?: ExternalPart | undefined;
  readonly closing?: Closing | undefined;
  readonly state?: RememberedState | undefined;
  readonly alerting?: Alerting | undefined;
  readonly rows?: RowReceiver | undefined;
  readonly results?: ResultReceiver | undefined;
  /** The only fields of its input that the node reads, or passes on; absent: all of them. */
  readonly fieldsRead?: readonly string[] | undefined;
};

/** For nodes that distinguish which parent a message is from. */
export interface ParentInputs {
  /** Takes the messages of one parent. */
  input(parentIndex: number): Receiver;
  /** All parents have ended: emits what depends on the end of the data. */
  finish(): void;
}

/** Counters that only this kind of node has. */
export interface Counters {
  stats(): Readonly<Record<string, number>>;
}

/** Work before the first message. */
export interface Starting {
  /** Rejects with the `StartError` that keeps the task from starting. */
  start(): Promise<void>;
}

/** Messages that wait for an answer from outside. */
export interface Waiting {
  readonly waitingCount: number;
  /** Resolves when the messages waiting now have their answers. */
  idle(): Promise<void>;
}

/** Messages that are sent together later. */
export interface Buffering {
  /** Sends what is buffered now. */
  flush(): void;
}

/** A part of the node outside of the task. */
export interface ExternalPart {
  /** All parents have ended: resolves when the part has given its last answer. */
  finishing(): Promise<void>;
  /** Fetches the state that `snapshot` will return. */
  prepareSnapshot(): Promise<void>;
}

/** Resources to release. */
export interface Closing {
  /** Releases everything; writes what is buffered. No messages follow. */
  close(): Promise<void> | void;
}

/** State that outlives the task. */
export interface RememberedState {
  /** `undefined` when there is nothing to keep. */
  snapshot(): unknown;
  /** Called before `start`, with the result of `snapshot`. */
  restore(state: unknown): void;
}

/** Groups that have a level. */
export interface Alerting {
  alertGroups(): AlertGroups;
}

/** Takes rows of writes, without a point for each. */
export interface RowReceiver {
  /** Prepares for the rows of a write; false when none of them can pass. */
  openWrite(source: RowSource): boolean;
  /** Rows of the open write: those of a selection from `start` up to `end`. */
  rows(selection: RowSelection, start: number, end: number): void;
  /** One row of the open write, by its number in it. */
  row(row: number): void;
  closeWrite(): void;
}

/** Takes results of queries that the engine runs. */
export interface ResultReceiver {
  result(series: readonly QueryResultSeries[], stop: bigint): void;
  failed(message: string): void;
}
