// Every kind of statement and what runs it: one row each.
import type { Statement } from '@tidemark/influxql';
import { executeExplain, executeSelect, executeShow } from '@tidemark/query';
import type { Operator, QueryContext, ResultBatch } from '@tidemark/query';

import { canRead } from '../auth/identity.ts';
import { queryCatalog } from '../query/query-catalog.ts';
import { pointSink } from '../query/point-sink.ts';
import { warn } from './context.ts';
import type { StatementContext, StatementHandler } from './context.ts';
import * as definitions from './definitions.ts';
import * as shows from './shows.ts';
import * as users from './users.ts';

type Registry = {
  readonly [K in Statement['kind']]: StatementHandler<Extract<Statement, { readonly kind: K }>>;
};

const REGISTRY: Registry = {
  select: withSnapshot(executeSelect),
  explain: withSnapshot(executeExplain),
  'show-measurements': withSnapshot(executeShow),
  'show-field-keys': withSnapshot(executeShow),
  'show-series': withSnapshot(executeShow),
  'show-tag-keys': withSnapshot(executeShow),
  'show-tag-values': withSnapshot(executeShow),
  'show-cardinality': withSnapshot(executeShow),
  'show-databases': shows.showDatabasesHandler,
  'show-continuous-queries': shows.showContinuousQueriesHandler,
  'show-diagnostics': shows.showDiagnosticsHandler,
  'show-stats': shows.showStatsHandler,
  'show-grants': shows.showGrantsHandler,
  'show-queries': shows.showQueriesHandler,
  'show-retention-policies': shows.showPoliciesHandler,
  'show-shards': shows.showShardsHandler,
  'show-shard-groups': shows.showShardGroupsHandler,
  'show-subscriptions': shows.showSubscriptionsHandler,
  'show-users': shows.showUsersHandler,
  'create-database': definitions.createDatabaseHandler,
  'drop-database': definitions.dropDatabaseHandler,
  'create-retention-policy': definitions.createPolicyHandler,
  'alter-retention-policy': definitions.alterPolicyHandler,
  'drop-retention-policy': definitions.dropPolicyHandler,
  'create-continuous-query': definitions.createContinuousQueryHandler,
  'drop-continuous-query': definitions.dropContinuousQueryHandler,
  'create-subscription': definitions.createSubscriptionHandler,
  'drop-subscription': definitions.dropSubscriptionHandler,
  'drop-measurement': definitions.dropMeasurementHandler,
  'drop-series': definitions.dropSeriesHandler,
  delete: definitions.deleteHandler,
  'drop-shard': definitions.dropShardHandler,
  'kill-query': definitions.killQueryHandler,
  'create-user': users.createUserHandler,
  'drop-user': users.dropUserHandler,
  'set-password': users.setPasswordHandler,
  grant: users.grantHandler,
  'grant-admin': users.grantAdminHandler,
  revoke: users.revokeHandler,
  'revoke-admin': users.revokeAdminHandler,
};

/** Runs a statement. What it throws is an `AppError` with the text that the statement answers. */
export function runStatement(
  statement: Statement,
  context: StatementContext,
): Operator<ResultBatch> {
  // The registry's type ties every kind to its handler; TypeScript can not follow that through an index.
  const handler = REGISTRY[statement.kind] as StatementHandler<Statement>;
  return handler(statement, context);
}

/** A statement about data: with one consistent view that is closed when its answer is. */
function withSnapshot<S>(
  execute: (statement: S, context: QueryContext) => Operator<ResultBatch>,
): StatementHandler<S> {
  return function* executeOnSnapshot(statement, context) {
    const { services, identity } = context;
    const snapshot = services.storage.source.snapshot();
    try {
      yield* execute(statement, {
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
        onPartial: context.onPartial,
        onFinding: context.onFinding,
        onWarning: (text) => warn(context, text),
        canRead: identity.kind === 'open' ? undefined : (database) => canRead(identity, database),
      });
    } finally {
      snapshot.close();
    }
  };
}
