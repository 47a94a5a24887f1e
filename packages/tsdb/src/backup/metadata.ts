// What a backup holds besides points: databases with their policies, and in a backup of everything users and tokens.
import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Corruption } from '@tidemark/core';

import type { ApiToken, CatalogState, Database, User } from '../catalog/model.ts';

const FORMAT_VERSION = 1;

/** 64-bit numbers are texts. */
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

const MetadataRecord = Type.Object({
  formatVersion: Type.Literal(FORMAT_VERSION),
  databases: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      policies: Type.Array(PolicyRecord),
      defaultPolicy: Type.String(),
      continuousQueries: Type.Array(Type.Object({ name: Type.String(), text: Type.String() })),
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
        Type.Union(['read', 'write', 'all', 'none'].map((grant) => Type.Literal(grant))),
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
type MetadataRecord = Static<typeof MetadataRecord>;

export type BackupMetadata = {
  readonly databases: readonly Database[];
  /** Empty in a backup of chosen databases. */
  readonly users: readonly User[];
  readonly tokens: readonly ApiToken[];
};

/** `databases`: only these, without users; `undefined`: everything. */
export function encodeMetadata(
  state: CatalogState,
  databases: readonly string[] | undefined,
): string {
  const isWanted = (name: string): boolean => databases?.includes(name) ?? true;
  const record = {
    formatVersion: FORMAT_VERSION,
    databases: [...state.databases.values()].filter(({ name }) => isWanted(name)),
    users: databases === undefined ? [...state.users.values()] : [],
    tokens: databases === undefined ? [...state.tokens.values()] : [],
  };
  return JSON.stringify(record, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

/** Throws `Corruption` for what `encodeMetadata` did not write. */
export function decodeMetadata(text: string | undefined): BackupMetadata {
  const { databases, users, tokens } = parseRecord(text);
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
    users: users as readonly User[],
    tokens: tokens.map((token) => ({
      ...token,
      createdAt: BigInt(token.createdAt),
      expiresAt: optionalNanos(token.expiresAt),
    })),
  };
}

function parseRecord(text: string | undefined): MetadataRecord {
  const damaged = (what: string): Corruption =>
    new Corruption(`backup can not be restored: ${what}`, { file: 'backup', offset: 0 });
  if (text === undefined) throw damaged('it does not say which databases and policies it holds');
  try {
    const record: unknown = JSON.parse(text);
    if (Value.Check(MetadataRecord, record)) return record;
  } catch {
    // Not JSON: the same sentence as for another structure.
  }
  throw damaged('what it says about databases is not understood');
}

function optionalNanos(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
