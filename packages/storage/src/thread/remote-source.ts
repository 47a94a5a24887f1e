// SeriesSource over the storage thread. A snapshot costs no round trip: messages are handled in order.
import { Cancelled } from '@tidemark/core';
import type {
  AggregateBatch,
  RequestOptions,
  SchemaBatch,
  SeriesBatch,
  SeriesSource,
  SourceSnapshot,
} from '@tidemark/query';

import { CAPABILITIES } from '../engine/local-source.ts';
import type { Connection } from './connection.ts';
import type { StreamBatch, StreamRequest } from './protocol.ts';

/** `connection` gives the present one: threads come and go. */
export function remoteSource(connection: () => Connection): SeriesSource {
  return {
    capabilities: CAPABILITIES,
    snapshot: async () => remoteSnapshot(connection()),
  };
}

function remoteSnapshot(connection: Connection): SourceSnapshot {
  const snapshot = connection.nextId();
  connection.post({ kind: 'snapshot', snapshot });
  const open = <T extends StreamBatch>(
    request: StreamRequest,
    options: RequestOptions,
  ): AsyncIterable<T> => readStream<T>(connection, { snapshot, request, options });
  return {
    schema: (request, options) => open<SchemaBatch>({ kind: 'schema', request }, options),
    scan: (request, options) => open<SeriesBatch>({ kind: 'scan', request }, options),
    aggregate: (request, options) => open<AggregateBatch>({ kind: 'aggregate', request }, options),
    close: async () => connection.post({ kind: 'release', snapshot }),
  };
}

type StreamParts = {
  readonly snapshot: number;
  readonly request: StreamRequest;
  readonly options: RequestOptions;
};

async function* readStream<T extends StreamBatch>(
  connection: Connection,
  { snapshot, request, options }: StreamParts,
): AsyncGenerator<T> {
  const { signal, counters, memoryLimitBytes } = options;
  let batches: readonly StreamBatch[] = [];
  let isLast = false;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  if (signal.aborted) throw new Cancelled('request was cancelled', { cause: signal.reason });
  const onAbort = (): void => {
    failure = new Cancelled('request was cancelled', { cause: signal.reason });
    connection.cancel(id);
    wake();
  };
  const id = connection.stream(
    {
      onBatches: (received, last, totals) => {
        batches = received;
        isLast = last;
        if (counters !== undefined) Object.assign(counters, totals);
        wake();
      },
      onError: (error) => {
        failure = error;
        wake();
      },
    },
    (streamId) => ({ kind: 'stream', id: streamId, snapshot, request, memoryLimitBytes }),
  );
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      while (batches.length === 0 && !isLast && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure !== undefined) throw failure;
      const received = batches;
      batches = [];
      // The next ones are made while these are used.
      if (!isLast) connection.post({ kind: 'pull', id });
      // The thread answers this kind of request with this kind of batch.
      for (const batch of received) yield batch as T;
      if (isLast && batches.length === 0) return;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    connection.cancel(id);
  }
}
