// Whether an identity may run a query. Refusals name statement and right.
import { Forbidden } from '@tidemark/core';
import { printStatement } from '@tidemark/influxql';
import type { Query } from '@tidemark/influxql';

import { canRead, canWrite } from '../auth/identity.ts';
import type { Identity } from '../auth/identity.ts';
import { CREATE_ADMIN_FIRST } from '../compat/messages.ts';
import { rowOf } from './registry.ts';

/**
 * Throws `Forbidden` unless all statements are allowed; nothing of a query runs before that is
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
      const isAllowed =
        need.kind === 'admin'
          ? user.isAdmin
          : need.kind === 'read'
            ? canRead(identity, need.database)
            : canWrite(identity, need.database);
      if (isAllowed) continue;
      const text = printStatement(statement, { redactPasswords: true });
      const right =
        need.kind === 'admin'
          ? 'admin privilege'
          : `${need.kind.toUpperCase()} on ${need.database}`;
      throw new Forbidden(
        `error authorizing query: ${user.name} not authorized to execute statement '${text}', requires ${right}`,
      );
    }
  }
}
