// The catalog as queries see it: one state for the duration of a statement.
import type { QueryCatalog } from '@tidemark/query';

import { findPolicy } from '../catalog/model.ts';
import type { CatalogState } from '../catalog/model.ts';

export function queryCatalog(state: CatalogState): QueryCatalog {
  return {
    hasDatabase: (database) => state.databases.has(database),
    hasRetentionPolicy: (database, policy) =>
      findPolicy(state.databases.get(database), policy) !== undefined,
    defaultRetentionPolicy: (database) => {
      const name = state.databases.get(database)?.defaultPolicy;
      return name === '' ? undefined : name;
    },
    retentionPolicies: (database) =>
      state.databases.get(database)?.policies.map((policy) => policy.name) ?? [],
  };
}
