// Changes of databases and retention policies: functions from one state to the next; a refused
// change throws.
import { Conflict, InvalidRequest, NANOS_PER_DAY, NANOS_PER_HOUR, NotFound } from '@tidemark/core';
import type { PolicyOptions } from '@tidemark/influxql';

import {
  databaseNotFound,
  INVALID_NAME,
  POLICY_CONFLICT,
  POLICY_EXISTS,
  POLICY_SHORTER_THAN_SHARD,
  POLICY_TOO_SHORT,
  policyNotFound,
} from '../compat/messages.ts';
import { findPolicy, withDatabase, without, withPolicy } from './model.ts';
import type { CatalogState, Database, PolicyName, RetentionPolicy } from './model.ts';

const DEFAULT_POLICY_NAME = 'autogen';

const MIN_POLICY_NANOS = NANOS_PER_HOUR;
const MIN_SHARD_NANOS = NANOS_PER_HOUR;

/** Names become parts of paths in backups and exports. */
function isValidName(name: string): boolean {
  // eslint-disable-next-line no-control-regex
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\u0000-\u001f\u007f]/.test(name);
}

/** Throws `InvalidRequest` for an invalid name of a database or a policy. */
export function requireValidName(name: string): void {
  if (!isValidName(name)) throw new InvalidRequest(INVALID_NAME);
}

/** Length of shard groups if the user specifies none. */
function defaultShardDuration(durationNanos: bigint): bigint {
  if (durationNanos === 0n || durationNanos >= 180n * NANOS_PER_DAY) return 7n * NANOS_PER_DAY;
  return durationNanos >= 2n * NANOS_PER_DAY ? NANOS_PER_DAY : NANOS_PER_HOUR;
}

function shardDuration(wantedNanos: bigint | undefined, durationNanos: bigint): bigint {
  if (wantedNanos === undefined || wantedNanos === 0n) return defaultShardDuration(durationNanos);
  return wantedNanos < MIN_SHARD_NANOS ? MIN_SHARD_NANOS : wantedNanos;
}

type PolicyShape = Omit<RetentionPolicy, 'id' | 'subscriptions'>;

function policyShape(name: string, options: PolicyOptions): PolicyShape {
  requireValidName(name);
  const durationNanos = options.durationNanos ?? 0n;
  const shape = {
    name,
    durationNanos,
    shardDurationNanos: shardDuration(options.shardDurationNanos, durationNanos),
    replication: options.replication ?? 1,
    futureLimitNanos: options.futureLimitNanos,
    pastLimitNanos: options.pastLimitNanos,
  };
  checkDurations(shape);
  return shape;
}

function checkDurations(policy: Pick<RetentionPolicy, 'durationNanos' | 'shardDurationNanos'>) {
  if (policy.durationNanos === 0n) return;
  if (policy.durationNanos < MIN_POLICY_NANOS) throw new InvalidRequest(POLICY_TOO_SHORT);
  if (policy.durationNanos < policy.shardDurationNanos) {
    throw new InvalidRequest(POLICY_SHORTER_THAN_SHARD);
  }
}

function isSameShape(policy: RetentionPolicy, shape: PolicyShape): boolean {
  return (
    policy.durationNanos === shape.durationNanos &&
    policy.replication === shape.replication &&
    policy.shardDurationNanos === shape.shardDurationNanos
  );
}

/** The database, or the error that clients know. */
export function requireDatabase(state: CatalogState, name: string): Database {
  const database = state.databases.get(name);
  if (database === undefined) throw new NotFound(databaseNotFound(name));
  return database;
}

/** The policy with its database, or the error that clients know. */
export function requirePolicy(
  state: CatalogState,
  wanted: PolicyName,
): { readonly database: Database; readonly policy: RetentionPolicy } {
  const database = requireDatabase(state, wanted.database);
  const policy = findPolicy(database, wanted.name);
  if (policy === undefined) throw new NotFound(policyNotFound(wanted.name));
  return { database, policy };
}

export type NewDatabase = {
  readonly name: string;
  /** Whether the statement has a WITH clause; without one any existing database is success. */
  readonly hasOptions: boolean;
  readonly options: PolicyOptions;
  readonly policyName?: string | undefined;
  /** Create a policy even without options (`meta.retention-autocreate`). */
  readonly createsPolicy: boolean;
};

export function createDatabase(state: CatalogState, wanted: NewDatabase): CatalogState {
  requireValidName(wanted.name);
  const existing = state.databases.get(wanted.name);
  const hasPolicy = wanted.hasOptions || wanted.createsPolicy;
  const shape = hasPolicy
    ? policyShape(wanted.policyName ?? DEFAULT_POLICY_NAME, wanted.options)
    : undefined;
  if (existing !== undefined) {
    if (!wanted.hasOptions || shape === undefined) return state;
    const policy = findPolicy(existing, shape.name);
    const isSame =
      policy !== undefined && isSameShape(policy, shape) && existing.defaultPolicy === shape.name;
    if (!isSame) throw new Conflict(POLICY_CONFLICT);
    return state;
  }
  const policies =
    shape === undefined ? [] : [{ ...shape, id: state.nextId + 1, subscriptions: [] }];
  const database: Database = {
    id: state.nextId,
    name: wanted.name,
    policies,
    defaultPolicy: shape?.name ?? '',
    continuousQueries: [],
  };
  return withDatabase({ ...state, nextId: state.nextId + 2 }, database);
}

/** Drops a database with everything in it, rights of users included. Missing is success. */
export function dropDatabase(state: CatalogState, name: string): CatalogState {
  if (!state.databases.has(name)) return state;
  const users = new Map(state.users);
  for (const user of state.users.values()) {
    if (!Object.hasOwn(user.grants, name)) continue;
    const grants = Object.fromEntries(Object.entries(user.grants).filter(([db]) => db !== name));
    users.set(user.name, { ...user, grants });
  }
  return { ...state, databases: without(state.databases, name), users };
}

export function createPolicy(
  state: CatalogState,
  wanted: PolicyName & { readonly options: PolicyOptions },
): CatalogState {
  const database = requireDatabase(state, wanted.database);
  const shape = policyShape(wanted.name, wanted.options);
  const isDefault = wanted.options.isDefault === true;
  const existing = findPolicy(database, wanted.name);
  if (existing !== undefined) {
    if (!isSameShape(existing, shape)) throw new Conflict(POLICY_EXISTS);
    if (isDefault && database.defaultPolicy !== wanted.name) throw new Conflict(POLICY_CONFLICT);
    return state;
  }
  return withDatabase(
    { ...state, nextId: state.nextId + 1 },
    {
      ...database,
      policies: [...database.policies, { ...shape, id: state.nextId, subscriptions: [] }],
      defaultPolicy: isDefault ? wanted.name : database.defaultPolicy,
    },
  );
}

export function alterPolicy(
  state: CatalogState,
  wanted: PolicyName & { readonly options: PolicyOptions },
): CatalogState {
  const { database, policy } = requirePolicy(state, wanted);
  const { options } = wanted;
  const durationNanos = options.durationNanos ?? policy.durationNanos;
  const altered: RetentionPolicy = {
    ...policy,
    durationNanos,
    shardDurationNanos:
      options.shardDurationNanos === undefined
        ? policy.shardDurationNanos
        : shardDuration(options.shardDurationNanos, durationNanos),
    replication: options.replication ?? policy.replication,
    futureLimitNanos: options.futureLimitNanos ?? policy.futureLimitNanos,
    pastLimitNanos: options.pastLimitNanos ?? policy.pastLimitNanos,
  };
  checkDurations(altered);
  const defaultPolicy = options.isDefault === true ? wanted.name : database.defaultPolicy;
  return withPolicy(state, { ...database, defaultPolicy }, altered);
}

/**
 * A missing policy is success. The default policy's name stays, so that statements that rely on it
 * report what is missing.
 */
export function dropPolicy(state: CatalogState, wanted: PolicyName): CatalogState {
  const database = state.databases.get(wanted.database);
  if (database === undefined || findPolicy(database, wanted.name) === undefined) return state;
  return withDatabase(state, {
    ...database,
    policies: database.policies.filter((policy) => policy.name !== wanted.name),
  });
}
