// SeriesSource over the storage thread: each request of a snapshot is a row of `READS`. Taking a
// snapshot needs no message of its own, because messages are handled in order.
import { Unavailable } from '@tidemark/core';
import { collectNames } from '@tidemark/query';
import type {
  MeasurementNames,
  NamesFilter,
  Operator,
  RequestOptions,
  SchemaBatch,
  SchemaRequest,
  SeriesSource,
  SourceCounters,
  SourceSnapshot,
  Steps,
} from '@tidemark/query';

import { CAPABILITIES, only } from '../read/local-source.ts';
import { cancelledBy } from '../read/cancelled.ts';
import type { Connection } from './connection.ts';
import { receivedBatches } from './packing.ts';
import { SOURCE_COUNTERS } from './protocol.ts';
import type { BatchesMessage, SchemaStamp, SchemaState } from './protocol.ts';
import { READS } from './requests.ts';
import type { ReadName, ReadRow, Reads } from './requests.ts';
import { ANSWER_BYTES_MAX, answerBytes } from './schema-cache.ts';

/** What reads need of a connection. */
export type ReadConnection = Pick<Connection, 'read' | 'signal' | 'cancel' | 'plans'>;

export class RemoteSource implements SeriesSource {
  readonly capabilities = CAPABILITIES;
  readonly #connection: () => Connection;

  constructor(connection: () => Connection) {
    this.#connection = connection;
  }

  snapshot(): SourceSnapshot {
    return remoteSnapshot(this.#connection());
  }
}

function remoteSnapshot(connection: Connection): SourceSnapshot {
  const snapshot = heldSnapshot(connection);
  const open = <N extends ReadName>(
    name: N,
    request: Reads[N]['request'],
    options: RequestOptions,
  ): Operator<Reads[N]['batch']> => read(connection, { name, snapshot, request, options });
  return {
    schema: (request, options) =>
      request.kind === 'names'
        ? open('schema', request, options)
        : schema(connection, { snapshot, request, options }),
    names: (filter, options) => names(connection, filter, options),
    scan: (request, options) => open('scan', request, options),
    aggregate: (request, options) => open('aggregate', request, options),
    cost: (request, options) => only(open('cost', request, options)),
    // The thread takes a snapshot and releases it with the answer.
    answer: (request, options) => textOf(read(connection, { name: 'answer', request, options })),
    close: () => release(connection, snapshot),
  };
}

function* textOf(answer: Operator<Reads['answer']['batch']>): Steps<Uint8Array | undefined> {
  return (yield* only(answer)).text;
}

/** The cached answer, or one that may be cached. */
function schema(
  connection: Connection,
  asked: {
    readonly snapshot: HeldSnapshot;
    readonly request: Exclude<SchemaRequest, { readonly kind: 'names' }>;
    readonly options: RequestOptions;
  },
): Operator<SchemaBatch> {
  const { schemas } = connection;
  const { request } = asked;
  const known = schemas.get(request);
  if (known !== undefined) return eachOf(known);
  return read(connection, {
    ...asked,
    name: 'schema',
    wantsShards: schemas.lacksShards(request),
    onAnswer: (answer, state) => schemas.set(request, answer, state),
  });
}

/**
 * Names are read from a new snapshot: an older one may not have the shards that the present names
 * refer to.
 */
function* names(
  connection: Connection,
  filter: NamesFilter,
  options: RequestOptions,
): Steps<readonly MeasurementNames[]> {
  const { schemas } = connection;
  const known = schemas.names(filter);
  if (known !== undefined) return known;
  const snapshot = heldSnapshot(connection);
  let kept: { readonly sizeBytes: number; readonly stamp: SchemaStamp } | undefined;
  const answer = read(connection, {
    name: 'schema',
    snapshot,
    request: { kind: 'names', filter },
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

function heldSnapshot(connection: Connection): HeldSnapshot {
  return { id: connection.nextId(), isTaken: false, isClosed: false };
}

function release(connection: Connection, snapshot: HeldSnapshot): void {
  const { id, isTaken, isClosed } = snapshot;
  if (isTaken && !isClosed) connection.release(id);
  snapshot.isClosed = true;
}

function* eachOf<T>(values: readonly T[]): Operator<T> {
  yield* values;
}

/**
 * The thread takes the snapshot with the first request. It contains everything acknowledged before.
 */
type HeldSnapshot = { readonly id: number; isTaken: boolean; isClosed: boolean };

type ReadParts<N extends ReadName> = {
  readonly name: N;
  /** Absent for one that is taken for this read. */
  readonly snapshot?: HeldSnapshot | undefined;
  readonly request: Reads[N]['request'];
  readonly options: RequestOptions;
  /** For a schema look-up: asks for the shards of the database. */
  readonly wantsShards?: boolean | undefined;
  /** Called with the complete answer of a schema look-up that may be cached. */
  readonly onAnswer?: ((answer: readonly SchemaBatch[], state: SchemaState) => void) | undefined;
};

/** A read of the other thread's source. */
export function* read<N extends ReadName>(
  connection: ReadConnection,
  { name, snapshot, request, options, wantsShards, onAnswer }: ReadParts<N>,
): Operator<Reads[N]['batch']> {
  type Batch = Reads[N]['batch'];
  const row: ReadRow<Reads[N]> = READS[name];
  const { signal, counters, memoryLimitBytes, ended, onPartial } = options;
  /** All batches of an answer that may be cached. Large answers are not. */
  let answer: SchemaBatch[] | undefined = onAnswer === undefined ? undefined : [];
  let answerSize = 0;
  if (snapshot?.isClosed === true) throw new Unavailable('snapshot is closed');
  let batches: readonly Batch[] = [];
  let seen: readonly number[] = [];
  let isLast = false;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  if (signal.aborted) throw cancelledBy(signal);
  if (snapshot !== undefined) snapshot.isTaken = true;
  const memory = options.memory?.openSource();
  const onFailure = (error: Error): void => {
    failure = error;
    connection.cancel(id);
    wake();
  };
  const collect = (collected: readonly SchemaBatch[], { schema: state }: BatchesMessage): void => {
    if (answer === undefined) return;
    answer.push(...collected);
    answerSize += answerBytes(collected);
    if (state !== undefined) onAnswer?.(answer, state);
    else if (answerSize > ANSWER_BYTES_MAX) answer = undefined;
  };
  const id = connection.read(
    {
      onBatches: (message) => {
        // The thread packs batches by the same row.
        batches = receivedBatches(row.batches, message.batches as readonly Batch[]);
        options.memory?.received?.(message.sizeBytes);
        isLast = message.isLast;
        if (counters !== undefined && message.counters !== undefined) {
          addDifference(counters, seen, message.counters);
          seen = message.counters;
        }
        for (const reason of message.partial ?? []) onPartial?.(reason);
        if (answer !== undefined) collect(batches as readonly SchemaBatch[], message);
        wake();
      },
      onAsk: (sizeBytes) => {
        memory?.ask(sizeBytes).then(() => {
          connection.signal({ id, name: 'grant', value: memory.grantedBytes });
        }, onFailure);
      },
      onError: (error) => {
        failure = error;
        wake();
      },
    },
    {
      name,
      request: row.pack?.(request, connection.plans) ?? request,
      takesPartial: onPartial !== undefined,
      // Absent properties are left out of the message, because each costs time.
      ...(snapshot && { snapshot: snapshot.id }),
      ...(memoryLimitBytes === undefined ? {} : { memoryLimitBytes }),
      ...(memory === undefined ? {} : { grantedBytes: memory.grantedBytes }),
      ...(wantsShards === undefined ? {} : { wantsShards }),
    },
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
      if (!isLast) connection.signal({ id, name: 'pull' });
      for (const batch of received) {
        yield batch;
        if (ended === undefined || ended.tags === endedTags) continue;
        endedTags = ended.tags;
        if (endedTags !== undefined) connection.signal({ id, name: 'endGroup', value: endedTags });
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
