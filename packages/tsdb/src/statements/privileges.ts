// Checks whether an identity may run a query. Errors name the statement and the right.
import { Forbidden } from '@tidemark/core';
import { printStatement } from '@tidemark/influxql';
import type { Query } from '@tidemark/influxql';

import type { Identity } from '../auth/identity.ts';
import { allows, printRequirement } from '../auth/requirements.ts';
import type { Requirement } from '../auth/requirements.ts';
import { CREATE_ADMIN_FIRST } from '../compat/messages.ts';
import { rowOf } from './registry.ts';

/** The rights that all statements of a query need; `database` is that of the request. */
export function requirementsOf({ statements }: Query, database: string): readonly Requirement[] {
  return statements.flatMap((statement) => rowOf(statement).requires(statement, database));
}

/**
 * Throws `Forbidden` unless all statements are allowed; no part of a query runs before that is
 * certain.
 */
export function authorizeQuery(query: Query, identity: Identity, database: string): void {
  if (identity.kind === 'open') return;
  if (identity.kind === 'bootstrap') {
    const first = query.statements[0];
    if (first?.kind === 'create-user' && first.isAdmin) return;
    throw new Forbidden(CREATE_ADMIN_FIRST);
  }
  const { user } = identity;
  for (const statement of query.statements) {
    for (const need of rowOf(statement).requires(statement, database)) {
      if (allows(identity, need)) continue;
      const text = printStatement(statement, { redactPasswords: true });
      const right = printRequirement(need);
      throw new Forbidden(
        `error authorizing query: ${user.name} not authorized to execute statement '${text}', requires ${right}`,
      );
    }
  }
}
