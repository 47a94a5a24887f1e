// SeriesSource over the storage thread. Taking a snapshot needs no message of its own, because
// messages are handled in order.
import { Unavailable } from '@tidemark/core';
import { collectNames } from '@tidemark/query';
import type {
  AggregateBatch,
  AnswerOptions,
  AnswerRequest,
  MeasurementNames,
  NamesFilter,
  Operator,
  RequestOptions,
  SchemaBatch,
  SeriesBatch,
  SeriesSource,
  SourceCounters,
  SourceSnapshot,
  Steps,
} from '@tidemark/query';

import { CAPABILITIES, only } from '../read/local-source.ts';
import { cancelledBy } from '../read/cancelled.ts';
import type { EngineLink, LinkHolder } from './engine-link.ts';
import { SOURCE_COUNTERS } from './protocol.ts';
import type {
  CostBatch,
  FromThread,
  SchemaStamp,
  SchemaState,
  StreamBatch,
  StreamRequest,
} from './protocol.ts';
import { ANSWER_BYTES_MAX, answerBytes } from './schema-cache.ts';
import { receivedBatches } from './transfer.ts';

export class RemoteSource implements SeriesSource {
  readonly capabilities = CAPABILITIES;
  readonly #holder: LinkHolder;

  constructor(holder: LinkHolder) {
    this.#holder = holder;
  }

  snapshot(): SourceSnapshot {
    return remoteSnapshot(this.#holder.link);
  }
}

function remoteSnapshot(connection: EngineLink): SourceSnapshot {
  const { schemas } = connection;
  const snapshot = heldSnapshot(connection);
  const open = <T extends StreamBatch>(
    request: StreamRequest,
    options: RequestOptions,
  ): Operator<T> => readStream<T>(connection, { snapshot, request, options });
  return {
    schema: (request, options) => {
      if (request.kind === 'names') return open<SchemaBatch>({ kind: 'schema', request }, options);
      const known = schemas.get(request);
      if (known !== undefined) return eachOf(known);
      const parts = { snapshot, request: { kind: 'schema', request } as const, options };
      const wantsShards = schemas.lacksShards(request);
      const onAnswer = (answer: readonly SchemaBatch[], state: SchemaState): void =>
        schemas.set(request, answer, state);
      return readStream<SchemaBatch>(connection, { ...parts, wantsShards, onAnswer });
    },
    names: (filter, options) => names(connection, filter, options),
    scan: (request, options) => open<SeriesBatch>({ kind: 'scan', request }, options),
    aggregate: (request, options) => open<AggregateBatch>({ kind: 'aggregate', request }, options),
    cost: (request, options) => only(open<CostBatch>({ kind: 'cost', request }, options)),
    answer: (request, options) => answer(connection, request, options),
    close: () => release(connection, snapshot),
  };
}

/**
 * Names are read from a new snapshot: an older one may not have the shards that the present names
 * refer to.
 */
function* names(
  connection: EngineLink,
  filter: NamesFilter,
  options: RequestOptions,
): Steps<readonly MeasurementNames[]> {
  const { schemas } = connection;
  const known = schemas.names(filter);
  if (known !== undefined) return known;
  const snapshot = heldSnapshot(connection);
  let kept: { readonly sizeBytes: number; readonly stamp: SchemaStamp } | undefined;
  const answer = readStream<SchemaBatch>(connection, {
    snapshot,
    request: { kind: 'schema', request: { kind: 'names', filter } },
    options,
    onAnswer: (batches, { stamp }) => {
      kept = { stamp, sizeBytes: answerBytes(batches) };
    },
  });
  try {
    const found = yield* collectNames(filter.database, answer);
    if (kept !== undefined) schemas.setNames(filter, found, kept);
    return found;
  } finally {
    release(connection, snapshot);
  }
}

function heldSnapshot(connection: EngineLink): HeldSnapshot {
  return { id: connection.nextId(), isTaken: false, isClosed: false };
}

function release(connection: EngineLink, snapshot: HeldSnapshot): void {
  const { id, isTaken, isClosed } = snapshot;
  if (isTaken && !isClosed) connection.postLater({ kind: 'release', snapshot: id });
  snapshot.isClosed = true;
}

/** One message there and one back: the thread takes a snapshot and releases it with the answer. */
function* answer(
  connection: EngineLink,
  asked: AnswerRequest,
  { signal, onPartial }: AnswerOptions,
): Steps<Uint8Array | undefined> {
  if (signal.aborted) throw cancelledBy(signal);
  let answered: (FromThread & { kind: 'answer' }) | undefined;
  let failure: Error | undefined;
  const { start, end } = asked.range;
  const { epoch, bound } = asked;
  // Absent properties are left out of the message, because each costs time.
  const more = bound === undefined ? undefined : { bound };
  const plan = connection.plans.carry(asked);
  yield new Promise<void>((resolve) => {
    const onAbort = (): void => {
      failure = cancelledBy(signal);
      connection.cancel(id);
      resolve();
    };
    const id = connection.stream(
      {
        onAnswer: (message) => {
          answered = message;
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
        onError: (error) => {
          failure = error;
          resolve();
        },
      },
      (answerId) => ({ kind: 'answer', id: answerId, plan, start, end, epoch, ...more }),
    );
    signal.addEventListener('abort', onAbort, { once: true });
  });
  if (answered === undefined) throw failure;
  for (const reason of answered.partial ?? []) onPartial(reason);
  return answered.text;
}

function* eachOf<T>(values: readonly T[]): Operator<T> {
  yield* values;
}

/**
 * The thread takes the snapshot with the first request. It contains everything acknowledged before.
 */
type HeldSnapshot = { readonly id: number; isTaken: boolean; isClosed: boolean };

type StreamParts = {
  readonly snapshot: HeldSnapshot;
  readonly request: StreamRequest;
  readonly options: RequestOptions;
  /** For a schema look-up: asks for the shards of the database. */
  readonly wantsShards?: boolean | undefined;
  /** Called with the complete answer of a schema look-up that may be cached. */
  readonly onAnswer?: ((answer: readonly SchemaBatch[], state: SchemaState) => void) | undefined;
};

function* readStream<T extends StreamBatch>(
  connection: EngineLink,
  { snapshot, request, options, wantsShards, onAnswer }: StreamParts,
): Operator<T> {
  const { signal, counters, memoryLimitBytes, ended, onPartial } = options;
  /** All batches of an answer that may be cached. Large answers are not. */
  let answer: SchemaBatch[] | undefined = onAnswer === undefined ? undefined : [];
  let answerSize = 0;
  if (snapshot.isClosed) throw new Unavailable('snapshot is closed');
  let batches: readonly StreamBatch[] = [];
  let seen: readonly number[] = [];
  let isLast = false;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  if (signal.aborted) throw cancelledBy(signal);
  snapshot.isTaken = true;
  const memory = options.memory?.openSource();
  const onFailure = (error: Error): void => {
    failure = error;
    connection.cancel(id);
    wake();
  };
  const id = connection.stream(
    {
      onBatches: (message) => {
        batches = receivedBatches(message.batches);
        options.memory?.received?.(message.sizeBytes);
        isLast = message.isLast;
        if (counters !== undefined) addDifference(counters, seen, message.counters);
        seen = message.counters;
        for (const reason of message.partial ?? []) onPartial?.(reason);
        if (answer !== undefined) {
          answer.push(...(batches as readonly SchemaBatch[]));
          answerSize += answerBytes(batches as readonly SchemaBatch[]);
          if (message.schema !== undefined) onAnswer?.(answer, message.schema);
          else if (answerSize > ANSWER_BYTES_MAX) answer = undefined;
        }
        wake();
      },
      onAsk: (sizeBytes) => {
        memory?.ask(sizeBytes).then(() => {
          connection.post({ kind: 'grant', id, grantedBytes: memory.grantedBytes });
        }, onFailure);
      },
      onError: (error) => {
        failure = error;
        wake();
      },
    },
    (streamId) => ({
      kind: 'stream',
      id: streamId,
      snapshot: snapshot.id,
      request,
      memoryLimitBytes,
      takesPartial: onPartial !== undefined,
      ...(memory === undefined ? {} : { grantedBytes: memory.grantedBytes }),
      ...(wantsShards === undefined ? {} : { wantsShards }),
    }),
  );
  const onAbort = (): void => onFailure(cancelledBy(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  let endedTags: readonly string[] | undefined;
  try {
    for (;;) {
      while (batches.length === 0 && !isLast && failure === undefined) {
        yield new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure !== undefined) throw failure;
      const received = batches;
      batches = [];
      // The thread works on the next batches while these are used.
      if (!isLast) connection.post({ kind: 'pull', id });
      // The kind of the request determines the kind of its batches.
      for (const batch of received) {
        yield batch as T;
        if (ended === undefined || ended.tags === endedTags) continue;
        endedTags = ended.tags;
        if (endedTags !== undefined) connection.post({ kind: 'end-group', id, tags: endedTags });
      }
      if (isLast && batches.length === 0) return;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    connection.cancel(id);
    memory?.release();
  }
}

/**
 * Adds what has been counted since the last message: messages have totals of their stream, and the
 * streams of a query add to one sum.
 */
function addDifference(
  sum: SourceCounters,
  before: readonly number[],
  now: readonly number[],
): void {
  for (const [i, name] of SOURCE_COUNTERS.entries()) sum[name] += now[i]! - (before[i] ?? 0);
}
