// The requests to the storage thread: one table of calls, which have one value as their answer, and
// one of reads, which have batches. Both ends are made from them: `remote-calls.ts` and
// `remote-source.ts` send what has a row, and `engine-server.ts` executes it.
import { answerText, zeroCounters } from '@tidemark/query';
import type {
  AggregateBatch,
  AggregateRequest,
  AnswerRequest,
  CostRequest,
  Operator,
  RequestOptions,
  ScanRequest,
  SchemaBatch,
  SchemaRequest,
  SeriesBatch,
  SourceCost,
  SourceSnapshot,
} from '@tidemark/query';
import type { BodyBuffers, StorageEngine, WriteLinesRequest } from '@tidemark/storage-api';

import { CAPABILITIES } from '../read/local-source.ts';
import type { ByteStreamCalls } from './byte-streams.ts';
import type { CarriedPlan, HeldPlans, SentPlans } from './carried-plans.ts';
import { AGGREGATES_PACKING } from './packed-aggregates.ts';
import type { PackedAggregates } from './packed-aggregates.ts';
import { packPoints, unpackPoints } from './packed-points.ts';
import type { PackedPoints } from './packed-points.ts';
import { ROWS_PACKING } from './packed-rows.ts';
import type { PackedRows } from './packed-rows.ts';
import { SCHEMA_PACKING } from './packed-schema.ts';
import type { PackedSchema } from './packed-schema.ts';
import { packShards, unpackShards } from './packed-shards.ts';
import type { BatchPacking } from './packing.ts';

/** Methods of the engine and of its byte streams that other threads call. */
export type Calls = Omit<StorageEngine, 'source' | 'bodyBuffer' | 'backup' | 'restore'> &
  ByteStreamCalls;
export type CallName = keyof Calls;

export type PackedCall = {
  readonly args: readonly unknown[];
  readonly transfer: readonly ArrayBuffer[];
  /** A buffer among the arguments that is sent back with the result. */
  readonly lent?: ArrayBuffer | undefined;
};

type CallRow<N extends CallName> = {
  /** Whose method it is in the thread. */
  readonly of: N extends keyof ByteStreamCalls ? 'byteStreams' : 'engine';
  /** The arguments as they cross; without it, as they are. */
  readonly pack?: (bodies: BodyBuffers, ...args: Parameters<Calls[N]>) => PackedCall;
  readonly unpack?: (...packed: never[]) => Parameters<Calls[N]>;
  /** The result as it crosses; without it, as it is. */
  readonly result?: ResultPacking<Awaited<ReturnType<Calls[N]>>>;
};

type ResultPacking<T> = {
  readonly pack: (value: T) => unknown;
  readonly unpack: (packed: never) => T;
};

const ENGINE = { of: 'engine' } as const;
const BYTE_STREAMS = { of: 'byteStreams' } as const;

/** Small bodies cross in shared memory instead (`write-ring.ts`). */
export const CALLS: { readonly [N in CallName]: CallRow<N> } = {
  writeLines: { of: 'engine', pack: packLines },
  writePoints: {
    of: 'engine',
    pack: (_bodies, { policy, points }) => {
      const packed = packPoints(points);
      const { times, places, words } = packed;
      return { args: [policy, packed], transfer: [times.buffer, places.buffer, words.buffer] };
    },
    unpack: (policy, packed: PackedPoints) => [{ policy, points: unpackPoints(packed) }],
  },
  delete: ENGINE,
  dropMeasurement: ENGINE,
  dropPolicy: ENGINE,
  dropShard: ENGINE,
  shards: { of: 'engine', result: { pack: packShards, unpack: unpackShards } },
  statistics: ENGINE,
  damage: ENGINE,
  flush: ENGINE,
  compact: ENGINE,
  close: ENGINE,
  openBackup: BYTE_STREAMS,
  readBackup: BYTE_STREAMS,
  closeBackup: BYTE_STREAMS,
  openRestore: BYTE_STREAMS,
  writeRestore: BYTE_STREAMS,
  finishRestore: BYTE_STREAMS,
  abandonRestore: BYTE_STREAMS,
};

/** A body is transferred; it is copied if it shares its buffer, as small ones of Node do. */
function packLines(bodies: BodyBuffers, request: WriteLinesRequest): PackedCall {
  const { buffer, byteOffset, byteLength } = request.body;
  const isLent = bodies.isLent(request.body);
  const isOwn = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
  const body =
    isLent || isOwn
      ? new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
      : new Uint8Array(request.body);
  return {
    args: [{ ...request, body }],
    transfer: byteLength > 0 ? [body.buffer] : [],
    lent: isLent ? body.buffer : undefined,
  };
}

/** The text of an answer; `undefined` if it cannot be written. */
export type AnswerBatch = { readonly text: Uint8Array | undefined };

type PackedAnswer = Omit<AnswerRequest, 'plan' | 'limits' | 'range'> &
  AnswerRequest['range'] & { readonly plan: CarriedPlan };

type Read<R, B, P = never, Q = R> = {
  readonly request: R;
  readonly batch: B;
  /** What stands for several batches in a message. */
  readonly run: P;
  /** The request as it crosses. */
  readonly packed: Q;
};

/** Requests for batches, and their batches. */
export type Reads = {
  readonly schema: Read<SchemaRequest, SchemaBatch, PackedSchema>;
  readonly scan: Read<ScanRequest, SeriesBatch, PackedRows>;
  readonly aggregate: Read<AggregateRequest, AggregateBatch, PackedAggregates>;
  readonly cost: Read<CostRequest, SourceCost>;
  readonly answer: Read<AnswerRequest, AnswerBatch, never, PackedAnswer>;
};
export type ReadName = keyof Reads;

export type ReadRow<T extends Read<unknown, unknown, unknown, unknown>> = {
  /** Executes it in the thread. */
  open(snapshot: SourceSnapshot, request: T['request'], how: RequestOptions): Operator<T['batch']>;
  /** The request as it crosses; without it, as it is. */
  pack?(request: T['request'], plans: SentPlans): T['packed'];
  unpack?(packed: T['packed'], plans: HeldPlans): T['request'];
  readonly batches: BatchPacking<T['batch'], T['run']>;
  /** Whether messages have counters. */
  readonly isCounted: boolean;
};

/** Batches that are few and small, and cross as they are. */
const AS_THEY_ARE = { sizeOf: () => 0 };

export const READS: { readonly [N in ReadName]: ReadRow<Reads[N]> } = {
  schema: {
    open: (snapshot, request, how) => snapshot.schema(request, how),
    batches: SCHEMA_PACKING,
    isCounted: true,
  },
  scan: {
    open: (snapshot, request, how) => snapshot.scan(request, how),
    batches: ROWS_PACKING,
    isCounted: true,
  },
  aggregate: {
    open: (snapshot, request, how) => snapshot.aggregate(request, how),
    batches: AGGREGATES_PACKING,
    isCounted: true,
  },
  cost: { open: costOf, batches: AS_THEY_ARE, isCounted: true },
  answer: {
    open: answerOf,
    // Absent properties are left out of the message, because each costs time.
    pack: ({ plan, limits, bound, range, epoch }, plans) => {
      const { start, end } = range;
      const packed = { plan: plans.carry({ plan, limits }), start, end, epoch };
      return bound === undefined ? packed : { ...packed, bound };
    },
    unpack: ({ plan, bound, start, end, epoch }, plans) => ({
      ...plans.of(plan),
      bound,
      range: { start, end },
      epoch,
    }),
    batches: AS_THEY_ARE,
    isCounted: false,
  },
};

function* costOf(
  snapshot: SourceSnapshot,
  request: CostRequest,
  how: RequestOptions,
): Operator<SourceCost> {
  const work = snapshot.cost?.(request, how);
  if (work !== undefined) yield yield* work;
}

/** Executes a plan and returns the text of its series (docs/adr/0022-prepared-statements.md). */
function* answerOf(
  snapshot: SourceSnapshot,
  request: AnswerRequest,
  { signal, onPartial }: RequestOptions,
): Operator<AnswerBatch> {
  const counters = zeroCounters();
  const source = { snapshot, capabilities: CAPABILITIES, signal, counters, onPartial };
  yield { text: yield* answerText(request, source) };
}
