// Schema look-ups of a statement: the batches of one kind, with turns for others in between.
import type { QueryContext } from './context.ts';
import { Pace } from './operators/pace.ts';
import type { RequestOptions, SchemaBatch, SchemaRequest } from './series-source.ts';

type Kind = SchemaRequest['kind'];

/** What is asked of a look-up of this kind. */
type Asked<K extends Kind> = Omit<Extract<SchemaRequest, { readonly kind: K }>, 'kind'>;

type Answer<K extends Kind> = Extract<SchemaBatch, { readonly kind: K }>;

/** Options of every request that a statement makes. */
export function requestOptions(context: QueryContext): RequestOptions {
  const { signal, counters, limits, onPartial } = context;
  const { maxQueryMemoryBytes } = limits;
  const memoryLimitBytes = maxQueryMemoryBytes === 0 ? undefined : maxQueryMemoryBytes;
  return { signal, counters, memoryLimitBytes, onPartial };
}

/**
 * The answer to a look-up, in the order and the batches of the source. Whoever works long on many batches passes the
 * statement's pace.
 */
export async function* lookUp<K extends Kind>(
  context: QueryContext,
  kind: K,
  asked: Asked<K>,
  pace: Pace = new Pace(context.signal, context.monotonicMs),
): AsyncGenerator<Answer<K>> {
  // The parts of a request of kind K, put together again.
  const request = { kind, ...asked } as unknown as SchemaRequest;
  for await (const batch of context.snapshot.schema(request, requestOptions(context))) {
    await pace.turn();
    if (isOfKind(batch, kind)) yield batch;
  }
}

function isOfKind<K extends Kind>(batch: SchemaBatch, kind: K): batch is Answer<K> {
  return batch.kind === kind;
}
