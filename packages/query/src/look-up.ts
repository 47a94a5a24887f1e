// Schema look-ups of a statement: the batches of one kind.
import type { QueryContext } from './context.ts';
import type { RequestOptions, SchemaBatch, SchemaRequest } from './series-source.ts';
import { flatMapBatches } from './operator.ts';
import type { Operator } from './operator.ts';

type Kind = SchemaRequest['kind'];

/** The properties of a look-up of this kind. */
type Asked<K extends Kind> = Omit<Extract<SchemaRequest, { readonly kind: K }>, 'kind'>;

type Answer<K extends Kind> = Extract<SchemaBatch, { readonly kind: K }>;

/** Options of every request that a statement makes. */
export function requestOptions(context: QueryContext): RequestOptions {
  const { signal, counters, limits, memory, onPartial } = context;
  const { maxQueryMemoryBytes } = limits;
  const memoryLimitBytes = maxQueryMemoryBytes === 0 ? undefined : maxQueryMemoryBytes;
  return { signal, counters, memoryLimitBytes, memory, onPartial };
}

/** The answer to a look-up, in the order and the batches of the source. */
export function* lookUp<K extends Kind>(
  context: QueryContext,
  kind: K,
  asked: Asked<K>,
): Operator<Answer<K>> {
  // The parts of a request of kind K, put together again.
  const request = { kind, ...asked } as unknown as SchemaRequest;
  const answer = context.snapshot.schema(request, requestOptions(context));
  yield* flatMapBatches(answer, (batch) => ofKind(batch, kind));
}

function* ofKind<K extends Kind>(batch: SchemaBatch, kind: K): Operator<Answer<K>> {
  yield;
  if (isOfKind(batch, kind)) yield batch;
}

function isOfKind<K extends Kind>(batch: SchemaBatch, kind: K): batch is Answer<K> {
  return batch.kind === kind;
}
