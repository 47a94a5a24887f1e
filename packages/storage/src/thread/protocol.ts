// Messages between the proxy and the storage thread. Requests carry a number that their answers
// repeat; messages are handled in order, so that what follows a resolved write sees it.
import type {
  AggregateBatch,
  AggregateRequest,
  CostRequest,
  ScanRequest,
  SchemaBatch,
  SchemaRequest,
  SeriesBatch,
  ShardSpan,
  SourceCost,
  SourceCounters,
} from '@tidemark/query';

import type { SchemaScope } from '../series/schema-version.ts';
import type { LogLevel, StorageOptions } from '../options.ts';
import type {
  PolicyRef,
  BackupRequest,
  RestoreReport,
  RestoreRequest,
  StorageEngine,
} from '../storage-engine.ts';
import type { ErrorMessage } from './errors.ts';
import type { PackedPoints } from './packed-points.ts';

/**
 * Methods of the engine that are called as they are; bytes that stream in and out have calls of
 * their own.
 */
export type CallName =
  | Exclude<keyof StorageEngine, 'source' | 'thread' | 'close' | 'backup' | 'restore'>
  | keyof ByteStreamCalls;

/** A backup is pulled, a restore is pushed, one portion per call. Numbers name the streams. */
export type ByteStreamCalls = {
  openBackup(request: BackupRequest): Promise<number>;
  /** `undefined` at the end. */
  readBackup(stream: number): Promise<Uint8Array | undefined>;
  closeBackup(stream: number): Promise<void>;
  openRestore(request: RestoreRequest): Promise<number>;
  /** Resolves when the engine has taken the portion. */
  writeRestore(stream: number, portion: Uint8Array): Promise<void>;
  finishRestore(stream: number): Promise<RestoreReport>;
  /** Nothing of it stays. */
  abandonRestore(stream: number): Promise<void>;
};

export type StreamRequest =
  | { readonly kind: 'schema'; readonly request: SchemaRequest }
  | { readonly kind: 'scan'; readonly request: ScanRequest }
  | { readonly kind: 'aggregate'; readonly request: AggregateRequest }
  | { readonly kind: 'cost'; readonly request: CostRequest };

export type CostBatch = SourceCost & { readonly kind: 'cost' };

/**
 * Windows of several groups in one array: every view of a message costs about as much as copying a
 * kilobyte. No column has nulls or holds strings or booleans.
 */
export type PackedAggregates = {
  readonly kind: 'packed-aggregates';
  readonly tagKeys: readonly string[];
  /** Those of the first group, then those of the next. */
  readonly tagValues: readonly string[];
  /** Windows of each group. A list of numbers crosses for less than an array of its own. */
  readonly windowCounts: readonly number[];
  /**
   * A letter per column, and a space behind each field: the first letter of the type, a capital
   * where its points have times.
   */
  readonly layout: string;
  /** Per group: starts, then for each column its values and times. */
  readonly words: Float64Array<ArrayBuffer>;
};

/**
 * Short batches of rows of several series, in one array. No column has nulls or holds strings or
 * booleans; all batches have the same types.
 */
export type PackedRows = {
  readonly kind: 'packed-rows';
  /** Key of each series, then its tags' keys and values in turn. */
  readonly series: readonly (readonly [key: string, ...tags: string[]])[];
  /** Per batch the place of its series in `series`. */
  readonly seriesOf: Uint32Array;
  /** Rows of each batch. */
  readonly rowCounts: Uint32Array;
  readonly types: readonly PackedType[];
  /** Times of all batches, then each column of all batches. */
  readonly words: Float64Array<ArrayBuffer>;
};

export type PackedType = 'float' | 'integer' | 'unsigned';

export type StreamBatch = SchemaBatch | SeriesBatch | AggregateBatch | CostBatch;

/** How batches cross: short ones side by side. */
export type SentBatch = StreamBatch | PackedAggregates | PackedRows;

/** Several messages may be posted as one. */
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
      /** Taken now when there is none of this number yet. */
      readonly snapshot: number;
      readonly request: StreamRequest;
      /** Asks for `schema` with the last batch of a schema look-up. */
      readonly wantsShards?: boolean | undefined;
      readonly memoryLimitBytes: number | undefined;
      /** Whether the reader can be told that the answer is not complete. */
      readonly takesPartial: boolean;
    }
  | {
      readonly kind: 'write-points';
      readonly id: number;
      readonly policy: PolicyRef;
      readonly packed: PackedPoints;
    }
  /** The reader has taken everything and wants more. */
  | { readonly kind: 'pull'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number }
  /** Opens the second engine, which keeps everything in memory (`StorageThread.rehearsal`). */
  | { readonly kind: 'open-rehearsal'; readonly id: number }
  /** A message for that engine; it closes by such a `close`. */
  | { readonly kind: 'rehearsal'; readonly message: ToThread }
  | { readonly kind: 'close'; readonly id: number };

/** What an answer stands and falls with (`schema-version.ts`). */
export type SchemaStamp = { readonly scope: SchemaScope; readonly version: number };

/** What the answer of a schema look-up stands and falls with, and what was asked for besides. */
export type SchemaState = {
  readonly stamp: SchemaStamp;
  /** Shards of the database; absent when not asked for. */
  readonly shards?: readonly ShardSpan[] | undefined;
};

/** The order in which counters cross. */
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
  | {
      readonly kind: 'result';
      readonly id: number;
      readonly value: unknown;
      readonly lent?: ArrayBuffer | undefined;
    }
  | { readonly kind: 'failed'; readonly id: number; readonly error: ErrorMessage }
  | {
      readonly kind: 'batches';
      readonly id: number;
      readonly batches: readonly SentBatch[];
      readonly isLast: boolean;
      /** In the order of `SOURCE_COUNTERS`. */
      readonly counters: readonly number[];
      /** What the answer lacks; with the first batches. */
      readonly partial?: readonly string[] | undefined;
      /** With the last batch of a schema look-up that nothing has changed meanwhile. */
      readonly schema?: SchemaState | undefined;
    }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>> | undefined;
    };

/** Options without what can not be sent. */
export type ThreadOptions = Omit<StorageOptions, 'log' | 'onFatal' | 'onAvailability'>;

export type ThreadData = {
  readonly options: ThreadOptions;
  /** The thread counts changes of schemas here (`schema-version.ts`). */
  readonly schemaVersions: Int32Array<SharedArrayBuffer>;
};
