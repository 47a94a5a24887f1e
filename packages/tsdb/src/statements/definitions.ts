// CREATE, ALTER and DROP of databases, policies, continuous queries and subscriptions, and deletes
// of data.
import { InvalidRequest } from '@tidemark/core';
import type { ShowClauses } from '@tidemark/influxql';
import { refuseTime } from '@tidemark/query';
import type { DeleteRequest } from '@tidemark/storage-api';
import {
  createsContinuousQuery,
  needsAdmin,
  writesNamed,
  writesRequested,
} from '../auth/requirements.ts';

import {
  alterPolicy,
  createDatabase,
  createPolicy,
  dropDatabase,
  dropPolicy,
  requireDatabase,
} from '../catalog/databases.ts';
import type { CatalogState } from '../catalog/model.ts';
import {
  createContinuousQuery,
  createSubscription,
  dropContinuousQuery,
  dropSubscription,
} from '../catalog/subscriptions.ts';
import { driverOf, warn } from './context.ts';
import type { StatementContext } from './context.ts';
import { qualifyContinuousQuery } from './continuous-query-text.ts';
import {
  deleteRequests,
  deleteScope,
  FieldInDelete,
  FIELDS_NOT_SUPPORTED,
} from './delete-request.ts';
import { changes, changesCatalog } from './rows.ts';
import type { Rows } from './rows.ts';

export const DEFINITIONS = {
  'create-database': changesCatalog(needsAdmin, (state, statement, { services }) =>
    createDatabase(state, { ...statement, createsPolicy: services.createsPolicies }),
  ),
  'drop-database': changes(needsAdmin, ({ name }, context) =>
    dropWithData(context, (state) => dropDatabase(state, name)),
  ),
  'create-retention-policy': changesCatalog(needsAdmin, createPolicy),
  'alter-retention-policy': changesCatalog(needsAdmin, alterPolicy),
  'drop-retention-policy': changes(writesNamed, (statement, context) =>
    dropWithData(context, (state) => dropPolicy(state, statement)),
  ),
  'create-continuous-query': changesCatalog(
    createsContinuousQuery,
    (state, statement, { identity, database, retentionPolicy }) => {
      const isOwned = identity.kind === 'user' && !identity.user.isAdmin;
      return createContinuousQuery(state, statement.database, {
        name: statement.name,
        text: qualifyContinuousQuery(statement, state, { database, retentionPolicy }),
        ...(isOwned ? { owner: identity.user.name } : {}),
      });
    },
  ),
  'drop-continuous-query': changesCatalog(writesNamed, dropContinuousQuery),
  'create-subscription': changesCatalog(needsAdmin, createSubscription),
  'drop-subscription': changesCatalog(needsAdmin, dropSubscription),
  'drop-measurement': changes(needsAdmin, async ({ name }, context) => {
    await context.services.storage.dropMeasurement(requestDatabase(context), name);
  }),
  'drop-series': changes(writesRequested, (statement, context) =>
    deleteData(statement, context, { allowsTime: false }),
  ),
  delete: changes(writesRequested, (statement, context) =>
    deleteData(statement, context, { allowsTime: true }),
  ),
  /** A shard that does not exist is success. */
  'drop-shard': changes(needsAdmin, ({ id }, { services }) =>
    services.storage.dropShard(Number(id)),
  ),
  'kill-query': changes(needsAdmin, async ({ id }, { services }) => {
    services.queries.kill(Number(id));
  }),
} satisfies Partial<Rows>;

/**
 * The names are removed first, durably; data without a name is invisible, and is removed at the
 * next start at the latest.
 */
async function dropWithData(
  { services }: StatementContext,
  change: (state: CatalogState) => CatalogState,
): Promise<void> {
  const gone: number[] = [];
  await services.catalog.change((state) => {
    const after = change(state);
    const kept = new Set(policyIds(after));
    gone.push(...policyIds(state).filter((id) => !kept.has(id)));
    return after;
  });
  // All drops are started; the storage retries those that fail now.
  const drops = await Promise.allSettled(gone.map((id) => services.storage.dropPolicy(id)));
  for (const drop of drops) if (drop.status === 'rejected') throw drop.reason;
}

function policyIds(state: CatalogState): readonly number[] {
  return [...state.databases.values()].flatMap((database) =>
    database.policies.map((policy) => policy.id),
  );
}

/**
 * Deletes work on all policies of the request's database; without one the text has an empty name,
 * as recorded.
 */
function requestDatabase({ database, services }: StatementContext): string {
  return requireDatabase(services.catalog.state, database).name;
}

async function deleteData(
  statement: Pick<ShowClauses, 'sources' | 'condition'>,
  context: StatementContext,
  options: { readonly allowsTime: boolean },
): Promise<void> {
  const database = requestDatabase(context);
  const { services } = context;
  try {
    if (!options.allowsTime) refuseTime(statement.condition, 'DROP SERIES');
    const scope = deleteScope(statement.condition, {
      now: services.clock.now(),
      onWarning: (text) => warn(context, text),
    });
    const requests = deleteRequests(statement.sources, scope, database);
    if (scope.tagKeys.size > 0) await refuseFields(scope.tagKeys, requests, context);
    for (const request of requests) await services.storage.delete(request);
  } catch (error) {
    if (!(error instanceof FieldInDelete)) throw error;
    const shards = await services.storage.shards();
    const shard = shards.find((candidate) => candidate.database === database);
    throw new InvalidRequest(`shard ${shard?.id ?? 0}: ${error.message}`, {
      cause: error,
      diagnostics: error.diagnostics,
    });
  }
}

/**
 * If a field of these measurements were treated as a missing tag, `!=` would match every series.
 */
async function refuseFields(
  names: ReadonlySet<string>,
  requests: readonly DeleteRequest[],
  context: StatementContext,
): Promise<void> {
  const { services, signal } = context;
  const driver = driverOf(services, () => context);
  const snapshot = services.storage.source.snapshot();
  try {
    for (const { database, measurements, measurementPattern } of requests) {
      const filter = { database, measurements, measurementPattern };
      const fields = snapshot.schema({ kind: 'fields', filter }, { signal });
      for await (const batch of driver.batches(fields)) {
        if (batch.kind !== 'fields') continue;
        if (batch.fields.some((field) => names.has(field.name))) {
          throw new FieldInDelete(FIELDS_NOT_SUPPORTED);
        }
      }
    }
  } finally {
    snapshot.close();
  }
}
