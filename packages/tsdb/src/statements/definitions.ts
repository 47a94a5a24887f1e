// CREATE, ALTER and DROP of databases, policies, continuous queries and subscriptions, and deletes
// of data.
import { InvalidRequest, NotFound } from '@tidemark/core';
import type { DefinitionStatement } from '@tidemark/influxql';
import { refuseTime } from '@tidemark/query';
import type { DeleteRequest } from '@tidemark/storage';

import {
  alterPolicy,
  createDatabase,
  createPolicy,
  dropDatabase,
  dropPolicy,
} from '../catalog/databases.ts';
import type { CatalogState } from '../catalog/model.ts';
import {
  createContinuousQuery,
  createSubscription,
  dropContinuousQuery,
  dropSubscription,
} from '../catalog/subscriptions.ts';
import { databaseNotFound } from '../compat/messages.ts';
import { acts, driverOf, warn } from './context.ts';
import type { StatementContext } from './context.ts';
import { qualifyContinuousQuery } from './continuous-query-text.ts';
import {
  deleteRequests,
  deleteScope,
  FieldInDelete,
  FIELDS_NOT_SUPPORTED,
} from './delete-request.ts';

type Of<K extends DefinitionStatement['kind']> = Extract<DefinitionStatement, { readonly kind: K }>;

export const createDatabaseHandler = acts<Of<'create-database'>>((statement, { services }) =>
  services.catalog.change((state) =>
    createDatabase(state, {
      name: statement.name,
      hasOptions: statement.hasOptions,
      options: statement.options,
      policyName: statement.policyName,
      createsPolicy: services.createsPolicies,
    }),
  ),
);

export const dropDatabaseHandler = acts<Of<'drop-database'>>(async (statement, context) => {
  await dropWithData(context, (state) => dropDatabase(state, statement.name));
});

export const createPolicyHandler = acts<Of<'create-retention-policy'>>((statement, { services }) =>
  services.catalog.change((state) => createPolicy(state, statement)),
);

export const alterPolicyHandler = acts<Of<'alter-retention-policy'>>((statement, { services }) =>
  services.catalog.change((state) => alterPolicy(state, statement)),
);

export const dropPolicyHandler = acts<Of<'drop-retention-policy'>>(async (statement, context) => {
  await dropWithData(context, (state) => dropPolicy(state, statement));
});

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

export const createContinuousQueryHandler = acts<Of<'create-continuous-query'>>(
  (statement, { services, identity, database, retentionPolicy }) => {
    const isOwned = identity.kind === 'user' && !identity.user.isAdmin;
    return services.catalog.change((state) =>
      createContinuousQuery(state, statement.database, {
        name: statement.name,
        text: qualifyContinuousQuery(statement, state, { database, retentionPolicy }),
        ...(isOwned ? { owner: identity.user.name } : {}),
      }),
    );
  },
);

export const dropContinuousQueryHandler = acts<Of<'drop-continuous-query'>>(
  (statement, { services }) =>
    services.catalog.change((state) =>
      dropContinuousQuery(state, statement.database, statement.name),
    ),
);

export const createSubscriptionHandler = acts<Of<'create-subscription'>>(
  (statement, { services }) =>
    services.catalog.change((state) =>
      createSubscription(
        state,
        { database: statement.database, policy: statement.retentionPolicy },
        { name: statement.name, mode: statement.mode, destinations: statement.destinations },
      ),
    ),
);

export const dropSubscriptionHandler = acts<Of<'drop-subscription'>>((statement, { services }) =>
  services.catalog.change((state) =>
    dropSubscription(
      state,
      { database: statement.database, policy: statement.retentionPolicy },
      statement.name,
    ),
  ),
);

/**
 * Deletes work on all policies of the request's database; without one the text has an empty name,
 * as recorded.
 */
function requestDatabase(context: StatementContext): string {
  const { database, services } = context;
  if (!services.catalog.state.databases.has(database)) {
    throw new NotFound(databaseNotFound(database));
  }
  return database;
}

export const deleteHandler = acts<Of<'delete'>>(async (statement, context) => {
  await deleteData(statement, context, { allowsTime: true });
});

export const dropSeriesHandler = acts<Of<'drop-series'>>(async (statement, context) => {
  await deleteData(statement, context, { allowsTime: false });
});

async function deleteData(
  statement: Of<'delete'> | Of<'drop-series'>,
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

export const dropMeasurementHandler = acts<Of<'drop-measurement'>>(async (statement, context) => {
  const database = requestDatabase(context);
  await context.services.storage.dropMeasurement(database, statement.name);
});

/** A shard that does not exist is success. */
export const dropShardHandler = acts<Of<'drop-shard'>>(async (statement, { services }) => {
  await services.storage.dropShard(Number(statement.id));
});

export const killQueryHandler = acts<Of<'kill-query'>>(async (statement, { services }) => {
  services.queries.kill(Number(statement.id));
});
