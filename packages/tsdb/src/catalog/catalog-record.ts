// The catalog as text, in its file and in backups: JSON, 64-bit numbers as texts
// (docs/formats/catalog.md).
import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

import type { ApiToken, Database, User } from './model.ts';

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
