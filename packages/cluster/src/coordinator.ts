// The interface of a coordinator: a register of small values, and logs. It is implemented with NATS
// (`nats-coordinator.ts`) and, for simulations, in memory (`testing/memory-coordinator.ts`).
import { Conflict } from '@tidemark/core';

export type LogRecord = {
  /** The number of its last piece. */
  readonly sequence: number;
  readonly bytes: Uint8Array;
  /** Metadata of its writer. */
  readonly label: string;
  /** The format level that a reader must know. */
  readonly level: number;
};

/**
 * The log, or the subject, does not end with the record that its writer expected: another instance
 * writes it now, or that record was purged.
 */
export class Superseded extends Conflict {}

export type AppendOptions = {
  readonly label?: string | undefined;
  /** The format level that a reader must know; the first by default. */
  readonly level?: number | undefined;
  /** Groups records of a log; most have none. */
  readonly subject?: string | undefined;
  /**
   * The expected number of the last record, or with `subject` of the last record with it; the
   * append throws `Superseded` if that is another one.
   */
  readonly after?: number | undefined;
  /** The append throws `Unavailable` instead of beginning an attempt after this time. */
  readonly signal: AbortSignal;
};

export type ReadOptions = {
  readonly first: number;
  readonly through?: number | undefined;
  readonly signal: AbortSignal;
};

export type LogEnds = { readonly first: number; readonly last: number; readonly bytes: number };

/** A log: records with increasing numbers, kept until they are purged. */
export type SharedLog = {
  /** Numbers of the first and the last record; without records, first is last + 1. */
  ends(): Promise<LogEnds>;
  /**
   * Appends a record; resolves with its number when the coordinator has it. An unanswered attempt
   * is repeated and takes effect once.
   */
  append(bytes: Uint8Array, options: AppendOptions): Promise<number>;
  /**
   * Yields records from `first` on, stored ones and then new ones, until the signal is aborted, or
   * up to `through`, which must have existed. Purged records are left out. Throws `Unavailable` if
   * the coordinator does not send what it has.
   */
  read(options: ReadOptions): AsyncIterable<LogRecord>;
  /** Purges all records before a number, or the first of them if the signal is aborted. */
  purge(before: number, signal?: AbortSignal): Promise<void>;
  /** The largest record that fits one message. */
  readonly bytesMax: number;
};

export type Entry = {
  readonly text: string;
  /** Increases with every change of any value. */
  readonly revision: number;
};

/** A register: the newest value of each key. */
export type SharedRegister = {
  get(key: string): Promise<Entry | undefined>;
  /** All entries whose keys have a prefix. */
  list(prefix: string): Promise<ReadonlyMap<string, Entry>>;
  /** Sets a value unconditionally. */
  put(key: string, text: string): Promise<number>;
  /**
   * Sets a value if it has this revision (0: if it is absent). Returns the new revision, or
   * `undefined` if the value has another one.
   */
  change(key: string, text: string, revision: number): Promise<number | undefined>;
  /** Removes a value. */
  remove(key: string): Promise<void>;
};

export type Coordinator = {
  readonly register: SharedRegister;
  /** The log of changes to the definitions and other stored data of the instances. */
  readonly changes: SharedLog;
  /** The log of accepted points. */
  readonly points: SharedLog;
  close(): Promise<void>;
};
