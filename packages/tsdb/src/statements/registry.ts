// Every kind of statement, one row each: its handler, the rights it needs, and its effect on data.
import type { Statement } from '@tidemark/influxql';
import { executeExplain, executeSelect, executeShow } from '@tidemark/query';
import type { Operator, QueryContext, ResultBatch } from '@tidemark/query';

import {
  createsContinuousQuery,
  needsAdmin,
  needsNothing,
  readsRequested,
  readsShown,
  selects,
  writesNamed,
  writesRequested,
} from '../auth/requirements.ts';
import type { Requires } from '../auth/requirements.ts';
import type { StatementHandler } from './context.ts';
import * as definitions from './definitions.ts';
import { onSnapshot } from './on-snapshot.ts';
import * as shows from './shows.ts';
import * as users from './users.ts';

/** The properties of a kind of statement. */
type Row<S> = {
  /** Throws an `AppError` with the statement's error text. */
  readonly handler: StatementHandler<S>;
  readonly requires: Requires<S>;
  /** Whether it changes nothing; changes are audited, and refused for GET if verbs are strict. */
  readonly isReadOnly: (statement: S) => boolean;
  /**
   * Whether it needs more memory than a row of the catalog: it begins with a part of the query
   * memory.
   */
  readonly readsData: boolean;
  /** Whether GET answers with a warning. */
  readonly isDeprecatedByGet: (statement: S) => boolean;
};

type Rows = { readonly [K in Statement['kind']]: Row<Extract<Statement, { readonly kind: K }>> };

const SHOW_SCHEMA = scans(executeShow, readsShown);

/** A missing kind does not compile. */
export const ROWS: Rows = {
  select: {
    ...scans(executeSelect, selects),
    isReadOnly: ({ into }) => into === undefined,
    isDeprecatedByGet: ({ into }) => into !== undefined,
  },
  explain: scans(executeExplain, ({ statement }, database) => selects(statement, database)),
  'show-measurements': SHOW_SCHEMA,
  'show-field-keys': SHOW_SCHEMA,
  'show-series': SHOW_SCHEMA,
  'show-tag-keys': SHOW_SCHEMA,
  'show-tag-values': SHOW_SCHEMA,
  'show-cardinality': SHOW_SCHEMA,
  'show-databases': reads(shows.showDatabasesHandler, needsNothing),
  'show-continuous-queries': reads(shows.showContinuousQueriesHandler, readsRequested),
  'show-diagnostics': reads(shows.showDiagnosticsHandler, needsAdmin),
  'show-stats': reads(shows.showStatsHandler, needsAdmin),
  'show-grants': reads(shows.showGrantsHandler, needsAdmin),
  'show-queries': reads(shows.showQueriesHandler, readsRequested),
  'show-retention-policies': reads(shows.showPoliciesHandler, readsShown),
  'show-shards': reads(shows.showShardsHandler, needsAdmin),
  'show-shard-groups': reads(shows.showShardGroupsHandler, needsAdmin),
  'show-subscriptions': reads(shows.showSubscriptionsHandler, needsAdmin),
  'show-users': reads(shows.showUsersHandler, needsAdmin),
  'create-database': changes(definitions.createDatabaseHandler, needsAdmin),
  'drop-database': changes(definitions.dropDatabaseHandler, needsAdmin),
  'create-retention-policy': changes(definitions.createPolicyHandler, needsAdmin),
  'alter-retention-policy': changes(definitions.alterPolicyHandler, needsAdmin),
  'drop-retention-policy': changes(definitions.dropPolicyHandler, writesNamed),
  'create-continuous-query': changes(
    definitions.createContinuousQueryHandler,
    createsContinuousQuery,
  ),
  'drop-continuous-query': changes(definitions.dropContinuousQueryHandler, writesNamed),
  'create-subscription': changes(definitions.createSubscriptionHandler, needsAdmin),
  'drop-subscription': changes(definitions.dropSubscriptionHandler, needsAdmin),
  'drop-measurement': changes(definitions.dropMeasurementHandler, needsAdmin),
  'drop-series': changes(definitions.dropSeriesHandler, writesRequested),
  delete: changes(definitions.deleteHandler, writesRequested),
  'drop-shard': changes(definitions.dropShardHandler, needsAdmin),
  'kill-query': changes(definitions.killQueryHandler, needsAdmin),
  'create-user': changes(users.createUserHandler, needsAdmin),
  'drop-user': changes(users.dropUserHandler, needsAdmin),
  'set-password': changes(users.setPasswordHandler, needsAdmin),
  grant: changes(users.grantHandler, needsAdmin),
  'grant-admin': changes(users.grantAdminHandler, needsAdmin),
  revoke: changes(users.revokeHandler, needsAdmin),
  'revoke-admin': changes(users.revokeAdminHandler, needsAdmin),
};

/** The properties of a statement's kind. */
export function rowOf(statement: Statement): Row<Statement> {
  // The type of the rows ties every kind to its own; TypeScript cannot follow that through an
  // index.
  return ROWS[statement.kind] as Row<Statement>;
}

function reads<S>(handler: StatementHandler<S>, requires: Requires<S>): Row<S> {
  return { handler, requires, isReadOnly: always, readsData: false, isDeprecatedByGet: never };
}

function changes<S>(handler: StatementHandler<S>, requires: Requires<S>): Row<S> {
  return { handler, requires, isReadOnly: never, readsData: false, isDeprecatedByGet: always };
}

function scans<S>(execute: Execute<S>, requires: Requires<S>): Row<S> {
  return { ...reads(withSnapshot(execute), requires), readsData: true };
}

function always(): boolean {
  return true;
}

function never(): boolean {
  return false;
}

type Execute<S> = (statement: S, context: QueryContext) => Operator<ResultBatch>;

/** A statement about data. */
function withSnapshot<S>(execute: Execute<S>): StatementHandler<S> {
  return (statement, context) => onSnapshot(context, (query) => execute(statement, query));
}
