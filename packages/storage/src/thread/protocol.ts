// Messages to and from the storage thread. A request carries a number, which its answer repeats.
// Messages are handled in order: what is sent after a write resolved sees its points.
import type {
  AggregateBatch,
  AggregateRequest,
  AnswerRequest,
  CostRequest,
  ScanRequest,
  SchemaBatch,
  SchemaRequest,
  SeriesBatch,
  ShardSpan,
  SourceCost,
  SourceCounters,
} from '@tidemark/query';
import type {
  BackupRequest,
  LogLevel,
  PolicyRef,
  RestoreReport,
  RestoreRequest,
  StorageEngine,
} from '@tidemark/storage-api';

import type { SchemaScope } from '../series/schema-version.ts';
import type { StorageOptions } from '../options.ts';
import type { ErrorMessage } from './errors.ts';
import type { PackedPoints } from './packed-points.ts';
import type { PackedOutcomes, PackedWrites } from './small-writes.ts';

/** Methods of the engine that are called as they are. Streams of bytes have calls of their own. */
export type CallName =
  | Exclude<keyof StorageEngine, 'source' | 'bodyBuffer' | 'close' | 'backup' | 'restore'>
  | keyof ByteStreamCalls;

/** A backup is pulled and a restore is pushed, one portion per call. Streams have numbers. */
export type ByteStreamCalls = {
  openBackup(request: BackupRequest): Promise<number>;
  /** `undefined` at the end. */
  readBackup(stream: number): Promise<Uint8Array | undefined>;
  closeBackup(stream: number): Promise<void>;
  openRestore(request: RestoreRequest): Promise<number>;
  /** Resolves when the engine has taken the portion. */
  writeRestore(stream: number, portion: Uint8Array): Promise<void>;
  finishRestore(stream: number): Promise<RestoreReport>;
  /** Ends a restore; none of its data stays. */
  abandonRestore(stream: number): Promise<void>;
};

export type StreamRequest =
  | { readonly kind: 'schema'; readonly request: SchemaRequest }
  | { readonly kind: 'scan'; readonly request: ScanRequest }
  | { readonly kind: 'aggregate'; readonly request: AggregateRequest }
  | { readonly kind: 'cost'; readonly request: CostRequest };

/**
 * A plan as it is sent (`carried-plans.ts`): its number in the thread, and the plan itself the
 * first time.
 */
export type CarriedPlan =
  | number
  | (Pick<AnswerRequest, 'plan' | 'limits'> & { readonly place: number });

export type CostBatch = SourceCost & { readonly kind: 'cost' };

/**
 * Windows of several groups in one array, because a view in a message costs about as much as
 * copying a kilobyte. Columns have no nulls, strings or booleans.
 */
export type PackedAggregates = {
  readonly kind: 'packed-aggregates';
  readonly tagKeys: readonly string[];
  /** Values of the first group's tags, then those of the next. */
  readonly tagValues: readonly string[];
  /** The measurement of each group; absent where all belong to the first. */
  readonly sources?: readonly number[] | undefined;
  /**
   * Number of windows of each group. In a message a list of numbers costs less than a typed array.
   */
  readonly windowCounts: readonly number[];
  /**
   * A letter per column: the first of its type, a capital letter if its points have times. A space
   * after the columns of each field.
   */
  readonly layout: string;
  /** For each group its starts, then the values and the times of each column. */
  readonly words: Float64Array<ArrayBuffer>;
};

/**
 * Short batches of rows of several series in one array. Columns have no nulls, strings or booleans.
 * All batches have the same types.
 */
export type PackedRows = {
  readonly kind: 'packed-rows';
  /** For each series its key, then keys and values of its tags. */
  readonly series: readonly (readonly [key: string, ...tags: string[]])[];
  /** For each batch the index of its series in `series`. */
  readonly seriesOf: Uint32Array;
  /** Number of rows of each batch. */
  readonly rowCounts: Uint32Array;
  readonly types: readonly PackedType[];
  /** Times of all batches, then each column of all batches. */
  readonly words: Float64Array<ArrayBuffer>;
};

export type PackedType = 'float' | 'integer' | 'unsigned';

export type StreamBatch = SchemaBatch | SeriesBatch | AggregateBatch | CostBatch;

/**
 * Batches of a schema look-up as JSON: as objects, many small ones take several times as long to
 * send and to receive.
 */
export type PackedSchema = {
  readonly kind: 'packed-schema';
  readonly count: number;
  readonly text: string;
};

/** A batch as it is sent; short ones are packed together. */
export type SentBatch = StreamBatch | PackedAggregates | PackedRows | PackedSchema;

/** Posted as lists, in both directions. */
export type ToThread =
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly name: CallName;
      readonly args: unknown[];
      /** A buffer among the arguments that is sent back with the result. */
      readonly lent?: ArrayBuffer | undefined;
    }
  | { readonly kind: 'release'; readonly snapshot: number }
  | {
      readonly kind: 'stream';
      readonly id: number;
      /** Number of the snapshot. It is taken if there is none with this number yet. */
      readonly snapshot: number;
      readonly request: StreamRequest;
      /** For a schema look-up: wants `shards` in the state of the schema. */
      readonly wantsShards?: boolean | undefined;
      readonly memoryLimitBytes: number | undefined;
      /** Memory that the request may hold without asking; absent if that is all of its limit. */
      readonly grantedBytes?: number | undefined;
      /** Whether the reader accepts a partial answer. */
      readonly takesPartial: boolean;
    }
  /**
   * Requests the text of a small answer, from a snapshot that is taken now and released with it.
   */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly plan: CarriedPlan;
      readonly bound?: AnswerRequest['bound'];
      readonly start: AnswerRequest['range']['start'];
      readonly end: AnswerRequest['range']['end'];
      readonly epoch: AnswerRequest['epoch'];
    }
  | {
      readonly kind: 'write-points';
      readonly id: number;
      readonly policy: PolicyRef;
      readonly packed: PackedPoints;
    }
  | PackedWrites
  /** The reader has taken all batches and wants more. */
  | { readonly kind: 'pull'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number }
  /** The answer to `ask`. A refused request is cancelled. */
  | { readonly kind: 'grant'; readonly id: number; readonly grantedBytes: number }
  /** The reader of a scan needs no more rows of the group with these tags. */
  | { readonly kind: 'end-group'; readonly id: number; readonly tags: readonly string[] }
  /** Opens a second engine with its data in memory (`Storage.openRehearsal`). */
  | { readonly kind: 'open-rehearsal'; readonly id: number }
  /** A message for the second engine, which `close` ends. */
  | { readonly kind: 'rehearsal'; readonly message: ToThread }
  | { readonly kind: 'close'; readonly id: number };

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
] as const satisfies readonly (keyof SourceCounters)[];

export type FromThread =
  | { readonly kind: 'opened' }
  | { readonly kind: 'open-failed'; readonly error: ErrorMessage }
  /** An assertion has failed. The thread ends, and nothing else comes from it. */
  | { readonly kind: 'broken'; readonly error: ErrorMessage }
  | {
      readonly kind: 'result';
      readonly id: number;
      readonly value: unknown;
      readonly lent?: ArrayBuffer | undefined;
    }
  | PackedOutcomes
  | { readonly kind: 'failed'; readonly id: number; readonly error: ErrorMessage }
  /** A request waits until it may hold this much. */
  | { readonly kind: 'ask'; readonly id: number; readonly sizeBytes: number }
  | {
      readonly kind: 'batches';
      readonly id: number;
      readonly batches: readonly SentBatch[];
      /** Size of the batches, texts included. */
      readonly sizeBytes: number;
      readonly isLast: boolean;
      /** Totals of the stream, in the order of `SOURCE_COUNTERS`. */
      readonly counters: readonly number[];
      /** Missing parts of the answer that were found since the last message. */
      readonly partial?: readonly string[] | undefined;
      /** With the last batch of a schema look-up, if the schema has not changed in the meantime. */
      readonly schema?: SchemaState | undefined;
    }
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly text: Uint8Array | undefined;
      /** Missing parts of the answer. */
      readonly partial?: readonly string[] | undefined;
    }
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
  /** Shared memory in which the thread counts changes of schemas (`schema-version.ts`). */
  readonly schemaVersions: Int32Array<SharedArrayBuffer>;
};
