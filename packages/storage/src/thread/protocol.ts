// Messages to and from the storage thread. They are posted as lists. A request carries a number,
// which its answer repeats. Requests over one port are handled in order: what is sent after a write
// resolved sees its points. `requests.ts` lists the requests.
import type { MessagePort } from 'node:worker_threads';

import type { ShardSpan, SourceCounters } from '@tidemark/query';
import type { LogLevel } from '@tidemark/storage-api';

import type { StorageOptions } from '../options.ts';
import type { SchemaScope } from '../series/schema-version.ts';
import type { ErrorMessage } from './errors.ts';
import type { PackedOutcomes } from './packed-outcomes.ts';
import type { CallName, ReadName } from './requests.ts';

/** Asks for one value. */
export type CallMessage = {
  readonly kind: 'call';
  readonly id: number;
  readonly name: CallName;
  /** As the row of the call packs them. */
  readonly args: readonly unknown[];
  /** A buffer among the arguments that is sent back with the result. */
  readonly lent?: ArrayBuffer | undefined;
};

/** Asks for batches. */
export type ReadMessage = {
  readonly kind: 'read';
  readonly id: number;
  readonly name: ReadName;
  /** As the row of the read packs it. */
  readonly request: unknown;
  /**
   * Number of the snapshot, which is taken if there is none with this number yet; absent for one
   * that is taken now and released at the end.
   */
  readonly snapshot?: number | undefined;
  /** For a schema look-up: wants `shards` in the state of the schema. */
  readonly wantsShards?: boolean | undefined;
  readonly memoryLimitBytes?: number | undefined;
  /** Memory that the request may hold without asking; absent if that is all of its limit. */
  readonly grantedBytes?: number | undefined;
  /** Whether the reader accepts a partial answer. */
  readonly takesPartial: boolean;
};

/** What a reader tells its read while it runs. */
export interface ReadSignals {
  /** The reader has taken all batches and wants more. */
  pull(): void;
  cancel(): void;
  /** The answer to `ask`. A refused request is cancelled. */
  grant(sizeBytes: number): void;
  /** The reader of a scan needs no more rows of the group with these tags. */
  endGroup(tags: readonly string[]): void;
}

export type SignalMessage = {
  readonly [N in keyof ReadSignals]: {
    readonly kind: 'signal';
    readonly id: number;
    readonly name: N;
    readonly value?: Parameters<ReadSignals[N]>[0] | undefined;
  };
}[keyof ReadSignals];

export type ToThread =
  | CallMessage
  /** Small writes lie in the ring (`write-ring.ts`), and the thread does not look into it. */
  | { readonly kind: 'writes' }
  | ReadMessage
  | SignalMessage
  | { readonly kind: 'release'; readonly snapshot: number }
  /**
   * Opens a second engine with its data in memory (`Storage.openRehearsal`), which is reached over
   * a port of its own.
   */
  | {
      readonly kind: 'open-rehearsal';
      readonly id: number;
      readonly port: MessagePort;
      readonly ring: SharedArrayBuffer;
    };

/** The version that an answer belongs to: it is valid until that changes (`schema-version.ts`). */
export type SchemaStamp = { readonly scope: SchemaScope; readonly version: number };

/** Sent with the answer of a schema look-up, for the cache. */
export type SchemaState = {
  readonly stamp: SchemaStamp;
  /** Shards of the database, if they were asked for. */
  readonly shards?: readonly ShardSpan[] | undefined;
};

/** The order of the counters in a message. */
export const SOURCE_COUNTERS = [
  'seriesVisited',
  'chunksRead',
  'chunksSkipped',
  'chunksAnsweredByStatistics',
  'rowsRead',
  'bytesRead',
  'readerMs',
] as const satisfies readonly (keyof SourceCounters)[];

export type BatchesMessage = {
  readonly kind: 'batches';
  readonly id: number;
  /** As the row of the read packs them. */
  readonly batches: readonly unknown[];
  /** Size of the batches, texts included. */
  readonly sizeBytes: number;
  readonly isLast: boolean;
  /** Totals of the read, in the order of `SOURCE_COUNTERS`; absent where nobody counts. */
  readonly counters?: readonly number[] | undefined;
  /** Missing parts of the answer that were found since the last message. */
  readonly partial?: readonly string[] | undefined;
  /** With the last batch of a schema look-up, if the schema has not changed in the meantime. */
  readonly schema?: SchemaState | undefined;
};

/** From one engine of the thread, over its port. */
export type FromEngine =
  | {
      readonly kind: 'result';
      readonly id: number;
      readonly value: unknown;
      readonly lent?: ArrayBuffer | undefined;
    }
  | PackedOutcomes
  | { readonly kind: 'failed'; readonly id: number; readonly error: ErrorMessage }
  | BatchesMessage
  /** A read waits until it may hold this much. */
  | { readonly kind: 'ask'; readonly id: number; readonly sizeBytes: number };

/** From the thread itself, over its own port. */
export type FromThread =
  | FromEngine
  | { readonly kind: 'opened' }
  | { readonly kind: 'open-failed'; readonly error: ErrorMessage }
  /** An assertion has failed. The thread ends, and nothing else comes from it. */
  | { readonly kind: 'broken'; readonly error: ErrorMessage }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>> | undefined;
    };

/** Options that can be sent to a thread. */
export type ThreadOptions = Omit<StorageOptions, 'log' | 'onFatal' | 'onAvailability'>;

export type ThreadData = {
  readonly options: ThreadOptions;
  /** The memory of small writes (`write-ring.ts`). */
  readonly ring: SharedArrayBuffer;
  /** Shared memory in which the thread counts changes of schemas (`schema-version.ts`). */
  readonly schemaVersions: Int32Array<SharedArrayBuffer>;
};
