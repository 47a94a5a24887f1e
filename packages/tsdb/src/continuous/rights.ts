// Checks whether a continuous query may still run: its owner needs the rights of its SELECT at each
// run. A query that an admin created runs without this check.
import { Forbidden } from '@tidemark/core';

import { allows, printRequirement, selects } from '../auth/requirements.ts';
import type { CatalogState } from '../catalog/model.ts';
import type { CreateContinuousQuery } from '../statements/continuous-query-text.ts';

/** Throws `Forbidden` when the owner is gone or lacks a right. */
export function requireRights(
  { statement, database }: CreateContinuousQuery,
  owner: string | undefined,
  state: CatalogState,
): void {
  if (owner === undefined) return;
  const user = state.users.get(owner);
  if (user === undefined)
    throw new Forbidden('the user who created the continuous query was dropped');
  for (const need of selects(statement, database)) {
    if (allows({ kind: 'user', user }, need)) continue;
    throw new Forbidden(
      `${owner}, who created the continuous query, does not have ${printRequirement(need)}`,
    );
  }
}
