// The catalog, and changes of it, as text, in its file and in backups: JSON, 64-bit numbers as
// texts (docs/formats/catalog.md).
import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

import type { ApiToken, CatalogState, Database, User } from './model.ts';

const Nanos = Type.String({ pattern: '^-?[0-9]{1,19}$' });
const Id = Type.Integer({ minimum: 0 });

const PolicyRecord = Type.Object({
  id: Id,
  name: Type.String(),
  durationNanos: Nanos,
  shardDurationNanos: Nanos,
  replication: Type.Integer(),
  futureLimitNanos: Type.Optional(Nanos),
  pastLimitNanos: Type.Optional(Nanos),
  subscriptions: Type.Array(
    Type.Object({
      name: Type.String(),
      mode: Type.Union([Type.Literal('ALL'), Type.Literal('ANY')]),
      destinations: Type.Array(Type.String()),
    }),
  ),
});

const CatalogRecord = Type.Object({
  databases: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      policies: Type.Array(PolicyRecord),
      defaultPolicy: Type.String(),
      continuousQueries: Type.Array(
        Type.Object({
          name: Type.String(),
          text: Type.String(),
          owner: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
  users: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      passwordHash: Type.String(),
      isAdmin: Type.Boolean(),
      grants: Type.Record(
        Type.String(),
        Type.Union([
          Type.Literal('read'),
          Type.Literal('write'),
          Type.Literal('all'),
          Type.Literal('none'),
        ]),
      ),
    }),
  ),
  tokens: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      userName: Type.String(),
      digest: Type.String(),
      createdAt: Nanos,
      expiresAt: Type.Optional(Nanos),
    }),
  ),
});
type CatalogRecord = Static<typeof CatalogRecord>;

const GoneRecord = Type.Object({
  nextId: Id,
  goneDatabases: Type.Array(Type.String()),
  goneUsers: Type.Array(Type.String()),
  goneTokens: Type.Array(Type.String()),
});

/** Everything that is kept, in the order of creation. */
export type CatalogEntries = {
  readonly databases: readonly Database[];
  readonly users: readonly User[];
  readonly tokens: readonly ApiToken[];
};

export function printCatalog(entries: CatalogEntries & { readonly nextId?: number }): string {
  return JSON.stringify(entries, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

/** `undefined` for anything that `printCatalog` did not write. */
export function parseCatalog(text: string): (CatalogEntries & { nextId?: number }) | undefined {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Value.Check(CatalogRecord, record)) return undefined;
  const nextId =
    'nextId' in record && typeof record.nextId === 'number' ? record.nextId : undefined;
  return { ...entriesOf(record), ...(nextId === undefined ? {} : { nextId }) };
}

/** The whole catalog as text. */
export function printCatalogState(state: CatalogState): string {
  return printCatalog({
    nextId: state.nextId,
    databases: [...state.databases.values()],
    users: [...state.users.values()],
    tokens: [...state.tokens.values()],
  });
}

/** `undefined` for anything that `printCatalogState` did not write. */
export function parseCatalogState(text: string): CatalogState | undefined {
  const entries = parseCatalog(text);
  if (entries?.nextId === undefined) return undefined;
  const byName = <T extends { readonly name: string }>(all: readonly T[]): Map<string, T> =>
    new Map(all.map((one) => [one.name, one]));
  const { databases, users, tokens, nextId } = entries;
  return {
    databases: byName(databases),
    users: byName(users),
    tokens: byName(tokens),
    nextId,
  };
}

/** New entries, those that are different, and the names of those that are gone. */
export type CatalogChange = CatalogEntries & Static<typeof GoneRecord>;

/** What leads from one state to the next, as text. Entries that are the same object are skipped. */
export function printCatalogChange(before: CatalogState, after: CatalogState): string {
  const { nextId } = after;
  const change: CatalogChange = {
    nextId,
    databases: changed(before.databases, after.databases),
    goneDatabases: gone(before.databases, after.databases),
    users: changed(before.users, after.users),
    goneUsers: gone(before.users, after.users),
    tokens: changed(before.tokens, after.tokens),
    goneTokens: gone(before.tokens, after.tokens),
  };
  return printCatalog(change);
}

/** `undefined` for anything that `printCatalogChange` did not write. */
export function parseCatalogChange(text: string): CatalogChange | undefined {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Value.Check(CatalogRecord, record) || !Value.Check(GoneRecord, record)) return undefined;
  const { nextId, goneDatabases, goneUsers, goneTokens } = record;
  return { ...entriesOf(record), nextId, goneDatabases, goneUsers, goneTokens };
}

/** The state after a change. */
export function applyCatalogChange(state: CatalogState, change: CatalogChange): CatalogState {
  return {
    nextId: change.nextId,
    databases: withChanges(state.databases, change.databases, change.goneDatabases),
    users: withChanges(state.users, change.users, change.goneUsers),
    tokens: withChanges(state.tokens, change.tokens, change.goneTokens),
  };
}

type Entry = { readonly id: number; readonly name: string };

function changed<T extends Entry>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): readonly T[] {
  const entries: T[] = [];
  if (before === after) return entries;
  for (const [name, one] of after) if (before.get(name) !== one) entries.push(one);
  return entries;
}

/** Names that have no entry any more, or another one: it takes a new place in the order. */
function gone(before: ReadonlyMap<string, Entry>, after: ReadonlyMap<string, Entry>): string[] {
  const names: string[] = [];
  if (before === after) return names;
  for (const [name, { id }] of before) if (after.get(name)?.id !== id) names.push(name);
  return names;
}

function withChanges<T extends Entry>(
  present: ReadonlyMap<string, T>,
  changes: readonly T[],
  goneNames: readonly string[],
): ReadonlyMap<string, T> {
  if (changes.length === 0 && goneNames.length === 0) return present;
  const next = new Map(present);
  for (const name of goneNames) next.delete(name);
  for (const one of changes) next.set(one.name, one);
  return next;
}

function entriesOf({ databases, users, tokens }: CatalogRecord): CatalogEntries {
  return {
    databases: databases.map((database) => ({
      ...database,
      policies: database.policies.map((policy) => ({
        ...policy,
        durationNanos: BigInt(policy.durationNanos),
        shardDurationNanos: BigInt(policy.shardDurationNanos),
        futureLimitNanos: optionalNanos(policy.futureLimitNanos),
        pastLimitNanos: optionalNanos(policy.pastLimitNanos),
      })),
    })),
    users,
    tokens: tokens.map((token) => ({
      ...token,
      createdAt: BigInt(token.createdAt),
      expiresAt: optionalNanos(token.expiresAt),
    })),
  };
}

function optionalNanos(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
