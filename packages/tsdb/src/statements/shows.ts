// SHOW statements that the catalog and the service answer; the query engine answers those about the
// schema.
import { InvalidRequest, formatClockDuration, formatRfc3339 } from '@tidemark/core';
import { hideUrlPassword } from '@tidemark/influxql';
import { rowsBatch } from '@tidemark/query';
import type { MixedValue, ResultBatch } from '@tidemark/query';
import type { ShardInfo } from '@tidemark/storage-api';

import { isAdmin, may } from '../auth/identity.ts';
import type { Identity } from '../auth/identity.ts';
import {
  needsAdmin,
  needsNothing,
  readsRequested,
  readsShown,
  selects,
} from '../auth/requirements.ts';
import type { Requirement } from '../auth/requirements.ts';
import { requireDatabase } from '../catalog/databases.ts';
import type { Grant } from '../catalog/model.ts';
import { requireUser } from '../catalog/users.ts';
import { DATABASE_NAME_REQUIRED } from '../compat/messages.ts';
import { parseContinuousQuery } from './continuous-query-text.ts';
import type { StatementContext } from './context.ts';
import { reads } from './rows.ts';
import type { Rows } from './rows.ts';

export const SHOWS = {
  /** Databases that the user may read or write; all without authentication. */
  'show-databases': reads(needsNothing, (_, { services, identity }) => {
    const names = [...services.catalog.state.databases.keys()].filter(
      (name) => may(identity, 'read', name) || may(identity, 'write', name),
    );
    return [rowsBatch({ name: 'databases', columns: ['name'], rows: names.map((name) => [name]) })];
  }),
  'show-retention-policies': reads(readsShown, (statement, context) => {
    const name = statement.database ?? context.database;
    if (name === '') throw new InvalidRequest(DATABASE_NAME_REQUIRED);
    const database = requireDatabase(context.services.catalog.state, name);
    const columns = ['name', 'duration', 'shardGroupDuration', 'replicaN', 'default'];
    const rows = database.policies.map((policy) => [
      policy.name,
      formatClockDuration(policy.durationNanos),
      formatClockDuration(policy.shardDurationNanos),
      BigInt(policy.replication),
      policy.name === database.defaultPolicy,
    ]);
    return [rowsBatch({ columns, rows })];
  }),
  /** Queries whose databases the user may read. */
  'show-continuous-queries': reads(readsRequested, (_, { services, identity }) =>
    [...services.catalog.state.databases.values()]
      .filter(({ name }) => may(identity, 'read', name))
      .map(({ name: database, continuousQueries }) => {
        const rows = continuousQueries
          .filter(({ text }) => needsOf(text).every((need) => mayKnow(identity, need)))
          .map(({ name, text }) => [name, text]);
        return table(['name', 'query'], rows, database);
      }),
  ),
  'show-subscriptions': reads(needsAdmin, (_, { services }) =>
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
  ),
  'show-users': reads(needsAdmin, (_, { services }) => {
    const users = [...services.catalog.state.users.values()];
    const rows = users.map(({ name, isAdmin }) => [name, isAdmin]);
    return [table(['user', 'admin'], rows)];
  }),
  'show-grants': reads(needsAdmin, (statement, { services }) => {
    const user = requireUser(services.catalog.state, statement.user);
    const rows = Object.entries(user.grants)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([database, held]) => [database, PRIVILEGE_TEXT[held]]);
    return [table(['database', 'privilege'], rows)];
  }),
  /** Queries on databases that the user may read. */
  'show-queries': reads(readsRequested, (_, { services, identity }) => {
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
  }),
  'show-shards': reads(needsAdmin, async (_, context) => {
    const columns = ['id', 'database', 'retention_policy', 'shard_group', ...TIMES, 'owners'];
    return (await shardsInOrder(context)).map(({ name, shards }) => {
      const rows = shards.map(({ shard, times }) => [
        BigInt(shard.id),
        name,
        shard.retentionPolicy,
        BigInt(shard.shardGroupId),
        ...times,
        '',
      ]);
      return table(columns, rows, name);
    });
  }),
  'show-shard-groups': reads(needsAdmin, async (_, context) => {
    const columns = ['id', 'database', 'retention_policy', ...TIMES];
    const rows = (await shardsInOrder(context)).flatMap(({ name, shards }) =>
      shards.map(({ shard, times }) => [
        BigInt(shard.shardGroupId),
        name,
        shard.retentionPolicy,
        ...times,
      ]),
    );
    return [table(columns, rows, 'shard groups')];
  }),
  'show-stats': reads(needsAdmin, async (statement, { services }) => {
    if (statement.module === INDEXES) {
      const { counters } = await services.storage.statistics();
      const rows = [[statisticValue(counters['indexBytes'] ?? 0)]];
      return [rowsBatch({ name: INDEXES, columns: ['memoryBytes'], rows })];
    }
    const modules = await services.statistics.read();
    return modules.filter(named(statement.module)).map(({ name, tags, values }) => {
      const columns = Object.keys(values).sort();
      return rowsBatch({
        name,
        tags: Object.keys(tags).length === 0 ? undefined : new Map(Object.entries(tags)),
        columns,
        rows: [columns.map((column) => statisticValue(values[column] ?? 0))],
      });
    });
  }),
  'show-diagnostics': reads(needsAdmin, (statement, { services }) =>
    services.diagnostics().filter(named(statement.module)).map(rowsBatch),
  ),
} satisfies Partial<Rows>;

/** Only answered by name, because it counts everything that is indexed. */
const INDEXES = 'indexes';

/** Whether a module is the one of that name, if there is a name. */
function named(wanted: string | undefined): (module: { readonly name: string }) => boolean {
  return ({ name }) => wanted === undefined || wanted === name;
}

/** The rights that a continuous query needs; a text that cannot be parsed is for admins. */
function needsOf(text: string): readonly Requirement[] {
  const { statement } = parseContinuousQuery(text);
  if (statement === undefined) return [{ kind: 'admin' }];
  return selects(statement.statement, statement.database);
}

/** Whether a user may see a text that needs this right: users who may read a database may. */
function mayKnow(identity: Identity, need: Requirement): boolean {
  return need.kind === 'admin' ? isAdmin(identity) : may(identity, 'read', need.database);
}

/** A series without rows has no `values`, as recorded. */
function table(
  columns: readonly string[],
  rows: readonly (readonly MixedValue[])[],
  name?: string,
): ResultBatch {
  return rowsBatch({ name, columns, rows, omitsValues: rows.length === 0 });
}

const PRIVILEGE_TEXT: Readonly<Record<Grant, string>> = {
  read: 'READ',
  write: 'WRITE',
  all: 'ALL PRIVILEGES',
  none: 'NO PRIVILEGES',
};

/** Microseconds below a second, milliseconds above: more digits mean nothing. */
function roundDuration(durationMs: number): bigint {
  return durationMs < 1000
    ? BigInt(Math.round(durationMs * 1000)) * 1000n
    : BigInt(Math.round(durationMs)) * 1_000_000n;
}

/** What the times of a shard are called. */
const TIMES = ['start_time', 'end_time', 'expiry_time'];

/**
 * The databases with their shards, in the order of creation; shards in the order of their policies,
 * then of time, with their start, end and expiry.
 */
async function shardsInOrder({ services: { catalog, storage } }: StatementContext) {
  const ofPolicies = new Map<number, ShardInfo[]>();
  for (const shard of await storage.shards()) {
    const known = ofPolicies.get(shard.policyId);
    if (known === undefined) ofPolicies.set(shard.policyId, [shard]);
    else known.push(shard);
  }
  return Array.from(catalog.state.databases.values(), ({ name, policies }) => ({
    name,
    shards: policies.flatMap(({ id, durationNanos }) =>
      (ofPolicies.get(id) ?? [])
        .sort((a, b) => (a.start < b.start ? -1 : 1))
        .map((shard) => ({
          shard,
          times: [shard.start, shard.end, shard.end + durationNanos].map(formatRfc3339),
        })),
    ),
  }));
}

function statisticValue(value: number): MixedValue {
  return Number.isSafeInteger(value) ? BigInt(value) : value;
}
