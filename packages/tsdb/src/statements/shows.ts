// SHOW statements that the catalog and the service answer; the query engine answers those about the
// schema.
import { InvalidRequest, formatClockDuration, formatRfc3339 } from '@tidemark/core';
import { hideUrlPassword } from '@tidemark/influxql';
import type { ShowStatement } from '@tidemark/influxql';
import { rowsBatch } from '@tidemark/query';
import type { MixedValue, ResultBatch } from '@tidemark/query';

import { canRead, canWrite, isAdmin } from '../auth/identity.ts';
import type { Identity } from '../auth/identity.ts';
import { selects } from '../auth/requirements.ts';
import type { Requirement } from '../auth/requirements.ts';
import { requireDatabase } from '../catalog/databases.ts';
import type { Grant } from '../catalog/model.ts';
import { requireUser } from '../catalog/users.ts';
import { DATABASE_NAME_REQUIRED } from '../compat/messages.ts';
import { answers } from './context.ts';
import { parseContinuousQuery } from './continuous-query-text.ts';
import type { StatementContext } from './context.ts';

type Of<K extends ShowStatement['kind']> = Extract<ShowStatement, { readonly kind: K }>;

/** Databases that the user may read or write; all without authentication. */
export const showDatabasesHandler = answers<Of<'show-databases'>>((_, { services, identity }) => {
  const names = [...services.catalog.state.databases.keys()].filter(
    (name) => canRead(identity, name) || canWrite(identity, name),
  );
  return [rowsBatch({ name: 'databases', columns: ['name'], rows: names.map((name) => [name]) })];
});

export const showPoliciesHandler = answers<Of<'show-retention-policies'>>((statement, context) => {
  const name = statement.database ?? context.database;
  if (name === '') throw new InvalidRequest(DATABASE_NAME_REQUIRED);
  const database = requireDatabase(context.services.catalog.state, name);
  return [
    rowsBatch({
      columns: ['name', 'duration', 'shardGroupDuration', 'replicaN', 'default'],
      rows: database.policies.map((policy) => [
        policy.name,
        formatClockDuration(policy.durationNanos),
        formatClockDuration(policy.shardDurationNanos),
        BigInt(policy.replication),
        policy.name === database.defaultPolicy,
      ]),
    }),
  ];
});

/** Queries whose databases the user may read. */
export const showContinuousQueriesHandler = answers<Of<'show-continuous-queries'>>(
  (_, { services, identity }) =>
    [...services.catalog.state.databases.values()]
      .filter(({ name }) => canRead(identity, name))
      .map((database) => {
        const shown = database.continuousQueries.filter(({ text }) =>
          needsOf(text).every((need) => mayKnow(identity, need)),
        );
        return rowsBatch({
          name: database.name,
          columns: ['name', 'query'],
          rows: shown.map(({ name, text }) => [name, text]),
          omitsValues: shown.length === 0,
        });
      }),
);

/** The rights that a continuous query needs; a text that cannot be parsed is for admins. */
function needsOf(text: string): readonly Requirement[] {
  const { statement } = parseContinuousQuery(text);
  if (statement === undefined) return [{ kind: 'admin' }];
  return selects(statement.statement, statement.database);
}

/** Whether a user may see a text that needs this right: users who may read a database may. */
function mayKnow(identity: Identity, need: Requirement): boolean {
  return need.kind === 'admin' ? isAdmin(identity) : canRead(identity, need.database);
}

export const showSubscriptionsHandler = answers<Of<'show-subscriptions'>>((_, { services }) =>
  [...services.catalog.state.databases.values()].flatMap((database) => {
    const rows = database.policies.flatMap((policy) =>
      policy.subscriptions.map(({ name, mode, destinations }): readonly MixedValue[] => [
        policy.name,
        name,
        mode,
        destinations.map(hideUrlPassword),
      ]),
    );
    if (rows.length === 0) return [];
    const columns = ['retention_policy', 'name', 'mode', 'destinations'];
    return [rowsBatch({ name: database.name, columns, rows })];
  }),
);

export const showUsersHandler = answers<Of<'show-users'>>((_, { services }) => {
  const users = [...services.catalog.state.users.values()];
  return [
    table(
      ['user', 'admin'],
      users.map(({ name, isAdmin }) => [name, isAdmin]),
    ),
  ];
});

/** A series without rows has no `values`, as recorded. */
function table(columns: readonly string[], rows: readonly (readonly MixedValue[])[]): ResultBatch {
  return rowsBatch({ columns, rows, omitsValues: rows.length === 0 });
}

const PRIVILEGE_TEXT: Readonly<Record<Grant, string>> = {
  read: 'READ',
  write: 'WRITE',
  all: 'ALL PRIVILEGES',
  none: 'NO PRIVILEGES',
};

export const showGrantsHandler = answers<Of<'show-grants'>>((statement, { services }) => {
  const user = requireUser(services.catalog.state, statement.user);
  const rows = Object.entries(user.grants)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([database, held]) => [database, PRIVILEGE_TEXT[held]]);
  return [table(['database', 'privilege'], rows)];
});

/** Queries on databases that the user may read. */
export const showQueriesHandler = answers<Of<'show-queries'>>((_, { services, identity }) => {
  const columns = ['qid', 'query', 'database', 'duration', 'status'];
  const rows = services.queries
    .list((requires) => requires.every((need) => mayKnow(identity, need)))
    .map(({ id, text, database, durationMs, isKilled }) => [
      BigInt(id),
      text,
      database,
      formatClockDuration(roundDuration(durationMs)),
      isKilled ? 'killed' : 'running',
    ]);
  return [table(columns, rows)];
});

/** Microseconds below a second, milliseconds above: more digits mean nothing. */
function roundDuration(durationMs: number): bigint {
  return durationMs < 1000
    ? BigInt(Math.round(durationMs * 1000)) * 1000n
    : BigInt(Math.round(durationMs)) * 1_000_000n;
}

type ShardRow = { readonly database: string; readonly row: readonly MixedValue[] };

/** Shards in the order of their databases and policies (the order of creation), then of time. */
async function shardRows(context: StatementContext, hasOwners: boolean): Promise<ShardRow[]> {
  const { catalog, storage } = context.services;
  const shards = await storage.shards();
  const ordered = [...catalog.state.databases.values()].flatMap(({ name, policies }) =>
    policies.flatMap((policy) =>
      shards
        .filter((one) => one.database === name && one.retentionPolicy === policy.name)
        .sort((a, b) => (a.start < b.start ? -1 : 1))
        .map((shard) => ({ shard, policy })),
    ),
  );
  return ordered.map(({ shard, policy }) => {
    const expiry = shard.end + policy.durationNanos;
    const times = [formatRfc3339(shard.start), formatRfc3339(shard.end), formatRfc3339(expiry)];
    const names = [shard.database, shard.retentionPolicy];
    return {
      database: shard.database,
      row: hasOwners
        ? [BigInt(shard.id), ...names, BigInt(shard.shardGroupId), ...times, '']
        : [BigInt(shard.shardGroupId), ...names, ...times],
    };
  });
}

export const showShardsHandler = answers<Of<'show-shards'>>(async (_, context) => {
  const rows = await shardRows(context, true);
  const columns = [
    'id',
    'database',
    'retention_policy',
    'shard_group',
    'start_time',
    'end_time',
    'expiry_time',
    'owners',
  ];
  return [...context.services.catalog.state.databases.keys()].map((name) => {
    const own = rows.filter(({ database }) => database === name).map(({ row }) => row);
    return rowsBatch({ name, columns, rows: own, omitsValues: own.length === 0 });
  });
});

export const showShardGroupsHandler = answers<Of<'show-shard-groups'>>(async (_, context) => {
  const rows = (await shardRows(context, false)).map(({ row }) => row);
  return [
    rowsBatch({
      name: 'shard groups',
      columns: ['id', 'database', 'retention_policy', 'start_time', 'end_time', 'expiry_time'],
      rows,
      omitsValues: rows.length === 0,
    }),
  ];
});

/** Only answered by name, because it counts everything that is indexed. */
const INDEXES = 'indexes';

export const showStatsHandler = answers<Of<'show-stats'>>(async (statement, { services }) => {
  if (statement.module === INDEXES) {
    const { counters } = await services.storage.statistics();
    const rows = [[statisticValue(counters['indexBytes'] ?? 0)]];
    return [rowsBatch({ name: INDEXES, columns: ['memoryBytes'], rows })];
  }
  const modules = await services.statistics.read();
  return modules
    .filter(({ name }) => statement.module === undefined || statement.module === name)
    .map(({ name, tags, values }) => {
      const columns = Object.keys(values).sort();
      return rowsBatch({
        name,
        tags: Object.keys(tags).length === 0 ? undefined : new Map(Object.entries(tags)),
        columns,
        rows: [columns.map((column) => statisticValue(values[column] ?? 0))],
      });
    });
});

function statisticValue(value: number): MixedValue {
  return Number.isSafeInteger(value) ? BigInt(value) : value;
}

export const showDiagnosticsHandler = answers<Of<'show-diagnostics'>>((statement, { services }) =>
  services
    .diagnostics()
    .filter(({ name }) => statement.module === undefined || statement.module === name)
    .map(({ name, columns, rows }) => rowsBatch({ name, columns, rows })),
);
