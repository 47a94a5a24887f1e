// The contents of the catalog: plain immutable data. Durations in nanoseconds, 0 = forever.

type SubscriptionMode = 'ALL' | 'ANY';

export type Subscription = {
  readonly name: string;
  readonly mode: SubscriptionMode;
  readonly destinations: readonly string[];
};

/**
 * `id` is unique forever, so that what is left on disk of a dropped policy never belongs to a new
 * one.
 */
export type RetentionPolicy = {
  readonly id: number;
  readonly name: string;
  readonly durationNanos: bigint;
  readonly shardDurationNanos: bigint;
  readonly replication: number;
  /** Points further in the future than this are refused; absent accepts all. */
  readonly futureLimitNanos?: bigint | undefined;
  /** Points further in the past than this are refused; absent accepts all. */
  readonly pastLimitNanos?: bigint | undefined;
  readonly subscriptions: readonly Subscription[];
};

/** `text` is the complete CREATE CONTINUOUS QUERY statement with qualified names. */
export type ContinuousQuery = {
  readonly name: string;
  readonly text: string;
  /**
   * The user who created it and whose rights it runs with; '' when that user was dropped. Absent if
   * an admin created it, or if authentication was off.
   */
  readonly owner?: string | undefined;
};

export type Database = {
  /** Rises with every database: the order of creation. */
  readonly id: number;
  readonly name: string;
  /** In the order of creation. */
  readonly policies: readonly RetentionPolicy[];
  /**
   * Name of the default policy. It may be dropped; then unqualified queries and writes find none.
   */
  readonly defaultPolicy: string;
  readonly continuousQueries: readonly ContinuousQuery[];
};

/** Rights of a user on a database. `none` remains after REVOKE: the database is still listed. */
export type Grant = 'read' | 'write' | 'all' | 'none';

export type User = {
  readonly id: number;
  readonly name: string;
  /** bcrypt. */
  readonly passwordHash: string;
  readonly isAdmin: boolean;
  readonly grants: Readonly<Record<string, Grant>>;
};

/** Stands for a user. `digest` is SHA-256 of the token, in hex. */
export type ApiToken = {
  readonly id: number;
  readonly name: string;
  readonly userName: string;
  readonly digest: string;
  readonly createdAt: bigint;
  /** Absent: never. */
  readonly expiresAt?: bigint | undefined;
};

/** The whole catalog at one moment. Maps iterate in the order of creation. */
export type CatalogState = {
  readonly databases: ReadonlyMap<string, Database>;
  readonly users: ReadonlyMap<string, User>;
  readonly tokens: ReadonlyMap<string, ApiToken>;
  /** The next id of a database, policy or user. Never goes back. */
  readonly nextId: number;
};

export const EMPTY_CATALOG: CatalogState = {
  databases: new Map(),
  users: new Map(),
  tokens: new Map(),
  nextId: 1,
};

/** What names a policy. */
export type PolicyName = { readonly database: string; readonly name: string };

/** The policy of a database by name. */
export function findPolicy(
  database: Database | undefined,
  name: string,
): RetentionPolicy | undefined {
  return database?.policies.find((policy) => policy.name === name);
}

/** A copy of the state in which one database is replaced. */
export function withDatabase(state: CatalogState, database: Database): CatalogState {
  return { ...state, databases: new Map(state.databases).set(database.name, database) };
}

/** A copy of the state in which one policy of a database is replaced. */
export function withPolicy(
  state: CatalogState,
  database: Database,
  policy: RetentionPolicy,
): CatalogState {
  const policies = database.policies.map((other) => (other.id === policy.id ? policy : other));
  return withDatabase(state, { ...database, policies });
}

/** A copy of a table without one entry. */
export function without<V>(table: ReadonlyMap<string, V>, name: string): ReadonlyMap<string, V> {
  const rest = new Map(table);
  rest.delete(name);
  return rest;
}

/** A copy of the state in which one user is replaced. */
export function withUser(state: CatalogState, user: User): CatalogState {
  return { ...state, users: new Map(state.users).set(user.name, user) };
}
