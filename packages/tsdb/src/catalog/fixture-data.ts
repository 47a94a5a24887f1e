// The contents of the fixtures of the catalog format, the same for every version: every key at
// least once.
import type { CatalogState } from './model.ts';

export function fillCatalog(): CatalogState {
  const database = {
    id: 1,
    name: 'home "ü"',
    policies: [
      {
        id: 2,
        name: 'autogen',
        durationNanos: 0n,
        shardDurationNanos: 604_800_000_000_000n,
        replication: 1,
        futureLimitNanos: undefined,
        pastLimitNanos: undefined,
        subscriptions: [],
      },
      {
        id: 3,
        name: 'short',
        durationNanos: 3_600_000_000_000n,
        shardDurationNanos: 3_600_000_000_000n,
        replication: 2,
        futureLimitNanos: 600_000_000_000n,
        pastLimitNanos: 9_223_372_036_854_775_807n,
        subscriptions: [
          { name: 's', mode: 'ANY' as const, destinations: ['udp://h:1', 'http://h:2'] },
        ],
      },
    ],
    defaultPolicy: 'short',
    continuousQueries: [{ name: 'c', text: 'CREATE CONTINUOUS QUERY c ON d BEGIN … END' }],
  };
  const user = {
    id: 4,
    name: 'u',
    passwordHash: '$2b$12$',
    isAdmin: true,
    grants: { 'home "ü"': 'read' as const, gone: 'none' as const },
  };
  const token = { name: 't', userName: 'u', digest: 'ab', createdAt: 5n };
  return {
    databases: new Map([[database.name, database]]),
    users: new Map([[user.name, user]]),
    tokens: new Map([
      ['t', { ...token, id: 5, expiresAt: undefined }],
      ['x', { ...token, id: 6, name: 'x', expiresAt: -1n }],
    ]),
    nextId: 7,
  };
}
