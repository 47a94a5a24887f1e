// What a coordinator keeps for several engines, as those see it: a register of small values and
// logs. NATS keeps them (`nats-coordinator.ts`), or memory, for simulations
// (`testing/memory-coordinator.ts`).
import { Conflict } from '@tidemark/core';

export type LogRecord = {
  /** Of its last part. */
  readonly sequence: number;
  readonly bytes: Uint8Array;
  /** What its writer says about it, beside it. */
  readonly label: string;
  /** Level that a reader has to know. */
  readonly level: number;
};

/** The log has another end than its writer has expected: somebody else writes it now. */
export class Superseded extends Conflict {}

export type AppendOptions = {
  readonly label?: string | undefined;
  /** Level that a reader has to know; default: the first. */
  readonly level?: number | undefined;
  /** Number of the last record; throws `Superseded` when it is another one. */
  readonly after?: number | undefined;
  /** No attempt begins later; throws `Unavailable` then. */
  readonly signal: AbortSignal;
};

export type ReadOptions = {
  readonly first: number;
  readonly through?: number | undefined;
  readonly signal: AbortSignal;
};

export type LogEnds = { readonly first: number; readonly last: number; readonly bytes: number };

/** Records with numbers that rise, kept until they are purged. */
export type SharedLog = {
  /** Numbers of the first and the last record; the first is one more where there are none. */
  ends(): Promise<LogEnds>;
  /**
   * Appends a record; resolves with its number when the coordinator has it. An attempt without an
   * answer is repeated and counts once.
   */
  append(bytes: Uint8Array, options: AppendOptions): Promise<number>;
  /**
   * Records from `first` on, those that are there and then those that come, until the signal ends
   * it, or up to `through`, which has been there: what is purged meanwhile is left out. Throws
   * `Unavailable` when the coordinator does not send what it has.
   */
  read(options: ReadOptions): AsyncIterable<LogRecord>;
  /** Forgets everything before a number. */
  purge(before: number): Promise<void>;
  /** What one record can be without being several messages. */
  readonly bytesMax: number;
};

export type Entry = {
  readonly text: string;
  /** Rises with every change of any value. */
  readonly revision: number;
};

/** Small values by key, the newest of each. */
export type SharedRegister = {
  get(key: string): Promise<Entry | undefined>;
  /** All entries whose keys begin so. */
  list(prefix: string): Promise<ReadonlyMap<string, Entry>>;
  /** Sets a value whatever it was. */
  put(key: string, text: string): Promise<number>;
  /**
   * Sets a value that has this revision, 0 for one that is absent; the new revision, or `undefined`
   * when it has another one.
   */
  change(key: string, text: string, revision: number): Promise<number | undefined>;
  /** Forgets a value. */
  remove(key: string): Promise<void>;
};

export type Coordinator = {
  readonly register: SharedRegister;
  /** What has been changed of what the instances store. */
  readonly changes: SharedLog;
  /** Points that the instances have taken. */
  readonly points: SharedLog;
  close(): Promise<void>;
};
