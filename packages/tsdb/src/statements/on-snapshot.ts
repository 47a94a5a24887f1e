// Runs everything that reads data, statements and remote reads, on a snapshot.
import type { QueryContext } from '@tidemark/query';

import { may } from '../auth/identity.ts';
import { pointSink } from '../query/point-sink.ts';
import { queryCatalog } from '../query/query-catalog.ts';
import { warn } from './context.ts';
import type { StatementContext } from './context.ts';

/** Work with one consistent snapshot, which is closed when the work ends. */
export function* onSnapshot<T, R>(
  context: StatementContext,
  work: (query: QueryContext) => Generator<T, R, undefined>,
): Generator<T, R, undefined> {
  const { services, identity } = context;
  const snapshot = services.storage.source.snapshot();
  try {
    return yield* work({
      snapshot,
      capabilities: services.storage.source.capabilities,
      catalog: queryCatalog(services.catalog.state),
      database: context.database === '' ? undefined : context.database,
      retentionPolicy: context.retentionPolicy === '' ? undefined : context.retentionPolicy,
      now: services.clock.now(),
      limits: services.limits,
      memory: context.memory,
      signal: context.signal,
      monotonicMs: () => services.clock.monotonicMs(),
      random: services.random,
      sink: pointSink(services.writer),
      counters: context.counters,
      seriesText: context.seriesText,
      onPartial: context.onPartial,
      onFinding: context.onFinding,
      onWarning: (text) => warn(context, text),
      canRead: identity.kind === 'open' ? undefined : (database) => may(identity, 'read', database),
    });
  } finally {
    snapshot.close();
  }
}
